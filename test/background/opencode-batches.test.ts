import { describe, expect, test } from "vitest"
import { isTerminal } from "../../src/task/lifecycle.ts"
import { lastSaid } from "../support/session/open-agent.ts"
import { eventually } from "../support/eventually.ts"
import { call, lastAnswer } from "../support/background/open-background.ts"
import {
  about,
  behindGate,
  launch,
  type OpenDelegation,
  openDelegation,
  resume,
} from "../support/background/open-delegation.ts"

/** The agent of the running test: scripts look at its tasks. */
let agent: OpenDelegation
const output = (number: number, more = {}) => about(() => agent, "background_output", number, more)
const ofBatch =
  (tool: string, more = {}) =>
  async () =>
    call(tool, { batch: (await agent.task(1)).batch, ...more })

describe("Group related tasks", () => {
  test("002-16: tasks launched by one message share a batch, and another message has another", async () => {
    agent = await openDelegation([launch("One.", "Two."), launch("Three."), "All work."], ["1", "2", "3"])
    await agent.session.send("go")
    const batches = agent.answers().map((told) => told["batch_id"])
    expect(batches[0]).toEqual(expect.any(String))
    expect(batches[1]).toBe(batches[0])
    expect(batches[2]).not.toBe(batches[0])
    expect((await agent.ended(1)).batch).toBe(batches[0])
    await Promise.all([agent.ended(2), agent.ended(3)])
  })

  test("002-17: output, cancel and clear take a whole batch, and nothing else", async () => {
    const { gate, step } = behindGate("late")
    const main = [launch("One.", "Two."), launch("Three."), "All work.", ofBatch("background_output"), "See."]
    const more = [ofBatch("background_cancel"), "Stopped.", ofBatch("background_clear"), "Cleared."]
    agent = await openDelegation([...main, ...more], [step, step, step])
    await agent.session.send("go")
    await eventually("all three work", () => agent.asked().length === 3)
    const ids = await Promise.all([1, 2, 3].map(async (number) => (await agent.task(number)).id))
    await agent.session.send("how far?")
    expect(agent.answers().at(-1)).toMatchObject({ tasks: [{ status: "running" }, { status: "running" }] })
    await agent.session.send("stop the first two")
    expect(agent.answers().at(-1)).toMatchObject({ cancelled: 2 })
    await agent.session.send("clear them")
    expect(agent.answers().at(-1)).toMatchObject({ cleared: 2, still_running: 0 })
    const { items } = await agent.runtime.tasks.list({ session: agent.session.id, kinds: ["agent"] })
    expect(items.map(({ id }) => id)).toEqual([ids[2]])
    gate.open()
  })

  test("a batch can be waited for as one, and all its results are in the answer", async () => {
    agent = await openDelegation(
      [launch("One.", "Two."), ofBatch("background_output", { block: true }), "Both done."],
      ["First.", "Second."],
    )
    expect((await agent.session.send("go")).text).toBe("Both done.")
    const told = agent.answers().at(-1)
    expect(told).toMatchObject({ tasks: [{ status: "completed" }, { status: "completed" }] })
    expect(JSON.stringify(told)).toMatch(/First\..*Second\.|Second\..*First\./)
  })

  test("an unknown batch is an error that says how to find the batches", async () => {
    agent = await openDelegation([call("background_output", { batch: "nope" }), "Oh."], [])
    await agent.session.send("see")
    expect(JSON.stringify(agent.answers())).toContain("background_list shows the batches")
  })

  test("002-18: each task of a batch is told of by itself when it ends, without waiting for the others", async () => {
    const [first, second] = [behindGate("First."), behindGate("Second.")]
    const main = [launch("One.", "Two."), "Both work.", "One is done.", "Both are."]
    agent = await openDelegation(main, [first.step, second.step])
    await agent.session.send("go")
    await second.gate.reached
    first.gate.open()
    await eventually("one has ended", async () => {
      const tasks = [await agent.task(1), await agent.task(2)]
      return tasks.some(({ status }) => isTerminal(status))
    })
    await agent.session.send("hello")
    expect(lastSaid(agent.model, -1)).toContain("First.")
    second.gate.open()
    await Promise.all([agent.ended(1), agent.ended(2)])
    await agent.session.send("hello again")
    expect(lastSaid(agent.model, -1)).toContain("Second.")
    expect(lastSaid(agent.model, -1)).not.toContain("First.")
  })
})

describe("Task persistence", () => {
  test("002-13: an ended task stays until its session is deleted", async () => {
    agent = await openDelegation([launch("Count."), "It works."], ["3."])
    await agent.session.send("count")
    const { id } = await agent.ended(1)
    await agent.session.close()
    expect((await agent.runtime.tasks.get(id)).task.status).toBe("completed")
    await agent.runtime.sessions.delete(agent.session.id)
    await expect(agent.runtime.tasks.get(id)).rejects.toMatchObject({ code: "not_found" })
  })

  test("002-32: background_clear removes the ended tasks of this session alone, and leaves those that run", async () => {
    const { gate, step } = behindGate("late")
    const main = [launch("Theirs."), "Theirs works.", launch("Mine."), launch("Slow."), "Mine work."]
    agent = await openDelegation([...main, call("background_clear"), "Cleared."], ["Theirs.", "Mine.", step])
    const other = await agent.runtime.createSession()
    await other.send("count")
    const list = (session = agent.session) => agent.runtime.tasks.list({ session: session.id, kinds: ["agent"] })
    const [theirs] = (await list(other)).items
    await eventually("theirs has ended", async () => isTerminal((await list(other)).items[0]?.status ?? "queued"))
    await agent.session.send("count")
    await gate.reached
    await agent.ended(1)
    await agent.session.send("clear")
    expect(agent.answers().at(-1)).toMatchObject({ cleared: 1, still_running: 1 })
    expect((await list(other)).items.map(({ id }) => id)).toEqual([theirs?.id])
    expect((await list()).items).toHaveLength(1)
    gate.open()
    await agent.ended(1)
  })
})

describe("every status", () => {
  test("002-05: the five states are running, completed, error, cancelled and resumed", async () => {
    const slow = behindGate("late")
    const followed = behindGate("late too")
    const error = { error: { code: "key_refused" as const, message: "No." } }
    const main = [
      launch("Complete."),
      "1",
      launch("Fail."),
      "2",
      launch("Be asked more."),
      "3",
      launch("Be cancelled."),
      "4",
      about(() => agent, "background_cancel", 4),
      resume(() => agent, 3, "More?"),
      launch("Run on."),
      "5",
      call("background_list"),
      "Listed.",
    ]
    const cancelled = behindGate("never")
    agent = await openDelegation(main, ["Done.", error, "Done.", cancelled.step, followed.step, slow.step])
    for (const number of [1, 2, 3]) {
      await agent.session.send(`task ${number}`)
      await agent.ended(number)
    }
    await agent.session.send("task 4")
    await cancelled.gate.reached
    await agent.session.send("task 5")
    await Promise.all([slow.gate.reached, followed.gate.reached])
    await agent.session.send("list")
    const lines = (agent.answers().at(-1) as { text: string }).text.split("\n").slice(1)
    const statuses = lines.map((line) => line.split(" | ")[1]).toReversed()
    expect(statuses).toEqual(["completed", "error", "resumed", "cancelled", "running"])
    slow.gate.open()
    followed.gate.open()
    await Promise.all([agent.ended(3), agent.ended(5)])
  })

  test("002-34: a task that waits for a slot is running, with its place in the queue", async () => {
    const { gate, step } = behindGate("1.")
    agent = await openDelegation([launch("One."), launch("Two."), output(2), "One after the other."], [step, "2."], {
      background: { maxConcurrentTasks: 1 },
    })
    await agent.session.send("go")
    expect(agent.answers().at(-1)).toMatchObject({ status: "running", place_in_queue: 1 })
    gate.open()
    await Promise.all([agent.ended(1), agent.ended(2)])
  })
})

test("the same prompt is not launched twice while the first task is live, and the answer names that task", async () => {
  const { gate, step } = behindGate("3.")
  agent = await openDelegation([launch("Count."), launch("Count."), "It works."], [step])
  await agent.session.send("count")
  const [first, second] = agent.answers()
  expect(second).toMatchObject({ task_id: first?.["task_id"], note: expect.stringContaining("nothing was launched") })
  expect(lastAnswer(agent.model.requests.at(-1) ?? never())).toMatchObject({ status: "running" })
  gate.open()
  await agent.ended(1)
})

function never(): never {
  throw new Error("the model was never asked")
}
