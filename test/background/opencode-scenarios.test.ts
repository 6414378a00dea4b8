import { describe, expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { isTerminal } from "../../src/task/lifecycle.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { call } from "../support/background/open-background.ts"
import {
  about,
  behindGate,
  launch,
  type OpenDelegation,
  openDelegation,
  toLaunch,
} from "../support/background/open-delegation.ts"

/** The agent of the running test: scripts look at its tasks. */
let agent: OpenDelegation
const output = (number: number, more = {}) => about(() => agent, "background_output", number, more)

describe("Launch background task", () => {
  test("002-01: launching answers at once, and the turn ends while the agent still works", async () => {
    const { gate, step } = behindGate("3 files.")
    agent = await openDelegation([launch("Count the files."), "It works on that."], [step])
    expect((await agent.session.send("count")).text).toBe("It works on that.")
    await gate.reached
    expect(isTerminal((await agent.task(1)).status)).toBe(false)
    gate.open()
    expect((await agent.ended(1)).status).toBe("completed")
  })

  test("002-02: the agent of that profile gets the prompt, and the task has the description", async () => {
    agent = await openDelegation([launch("Count the files."), "It works."], ["3 files."])
    await agent.session.send("count")
    expect(await agent.ended(1)).toMatchObject({ title: "Do: Count the files.", input: { profile: "worker" } })
    const [asked] = agent.asked()
    expect(asked?.system).toContain("Work hard.")
    expect(JSON.stringify(asked?.messages)).toContain("Count the files.")
  })

  test("002-03: every task has an id of its own, and is running at launch", async () => {
    const { gate, step } = behindGate("Done.")
    agent = await openDelegation([launch("One.", "Two."), "Both work."], [step, step])
    await agent.session.send("go")
    const [first, second] = agent.answers()
    expect([first, second]).toMatchObject([{ status: "running" }, { status: "running" }])
    expect(first?.["task_id"]).not.toBe(second?.["task_id"])
    const started = [await agent.task(1), await agent.task(2)].map(({ id }) => id.slice(0, 8))
    expect(new Set([first?.["task_id"], second?.["task_id"]])).toEqual(new Set(started))
    gate.open()
  })

  test("002-04: the task knows the session and the message that asked for it", async () => {
    agent = await openDelegation([launch("Count."), "It works."], ["3."])
    await agent.session.send("count")
    const { session, parentMessage } = await agent.ended(1)
    expect(session).toBe(agent.session.id)
    const position = Number(parentMessage?.split("/").at(-1))
    const [message] = await agent.runtime.engine.store.messages(agent.session.id, position - 1, 1)
    expect(JSON.stringify(message)).toContain('"background_task"')
  })

  test("an unknown agent is refused, with near names", async () => {
    agent = await openDelegation([{ calls: [toLaunch("Count.", { agent: "worcker" })] }, "Oh."], [])
    await agent.session.send("count")
    expect(JSON.stringify(agent.answers())).toMatch(/There is no profile.*worcker.*worker/)
  })

  test("a launch without a description is refused with what is missing", async () => {
    agent = await openDelegation([call("background_task", { prompt: "Count." }), "Oh."], [])
    await agent.session.send("count")
    expect(JSON.stringify(agent.answers())).toContain("say in a few words what the task does")
  })
})

describe("Track task completion", () => {
  test("002-06: a finished task is completed, with the time of its end and its result", async () => {
    agent = await openDelegation([launch("Count."), "It works.", output(1), "3."], ["There are 3 files."])
    await agent.session.send("count")
    const { status, ...task } = await agent.ended(1)
    expect(status).toBe("completed")
    await agent.session.send("and?")
    const told = agent.answers().at(-1)
    expect(told).toMatchObject({ status: "completed", completed_at: expect.stringMatching(/^\d{4}-.*Z$/) })
    expect(JSON.stringify(told?.["result"])).toContain("There are 3 files.")
    expect(JSON.stringify(task)).toContain("There are 3 files.")
  })
})

describe("Handle task errors", () => {
  test("002-07: a failed task has the status error, and keeps what went wrong", async () => {
    const below = [{ error: { code: "key_refused" as const, message: "The key is not valid." } }]
    agent = await openDelegation([launch("Count."), "It works.", output(1), "It failed."], below)
    await agent.session.send("count")
    await agent.ended(1)
    await agent.session.send("and?")
    expect(agent.answers().at(-1)).toMatchObject({
      status: "error",
      error: { code: "key_refused", message: expect.stringContaining("The key is not valid.") },
    })
  })
})

describe("Retrieve completed task results", () => {
  test("002-11: reading a result marks it as retrieved, with the time", async () => {
    agent = await openDelegation([launch("Count."), "It works.", output(1), "3."], ["3 files."])
    await agent.session.send("count")
    expect((await agent.ended(1)).retrievedAt).toBeNull()
    await agent.session.send("and?")
    const { retrievedAt } = await agent.task(1)
    expect(retrievedAt).toEqual(expect.any(Number))
    expect(agent.answers().at(-1)).toMatchObject({ retrieved_at: new Date(retrievedAt ?? 0).toISOString() })
  })
})

describe("Check running task status", () => {
  test("002-10: without block it answers at once, whatever the task does", async () => {
    const { gate, step } = behindGate("3.")
    agent = await openDelegation([launch("Count."), output(1, { timeout: 600_000 }), "It still works."], [step])
    expect((await agent.session.send("count")).text).toBe("It still works.")
    expect(agent.answers().at(-1)).toMatchObject({ status: "running" })
    gate.open()
  })

  test("002-12: a running task is shown with its progress", async () => {
    const { gate, step } = behindGate("3.")
    agent = await openDelegation([launch("Count."), "It works.", output(1), "Wait."], [step])
    await agent.session.send("count")
    await gate.reached
    await agent.session.send("how far?")
    const told = agent.answers().at(-1)
    expect(told).toMatchObject({ status: "running", progress: { tool_calls: 0, recent_tools: [] } })
    expect(told).not.toHaveProperty("result")
    gate.open()
  })
})

describe("Monitor task progress", () => {
  test("002-14: the status has the number of tool calls, and the tools used last", async () => {
    const { dig } = await openDigging()
    await agent.session.send("how far?")
    expect(agent.answers().at(-1)).toMatchObject({
      status: "running",
      progress: { tool_calls: 4, recent_tools: ["dig", "dig", "dig"] },
    })
    for (const number of [4, 5]) (await dig.call(number)).finish()
    expect((await agent.ended(1)).status).toBe("completed")
  })

  test("002-15: the time of the last update says that the agent is still active", async () => {
    const { dig, clock, saved } = await openDigging()
    await agent.session.send("how far?")
    const before = lastUpdate()
    expect(clock.now() - before).toBeLessThan(10_000)
    clock.advance(60_000)
    ;(await dig.call(4)).finish()
    await saved(5)
    await agent.session.send("and now?")
    expect(lastUpdate() - before).toBeGreaterThanOrEqual(60_000)
    ;(await dig.call(5)).finish()
    await agent.ended(1)
  })

  const lastUpdate = () =>
    Date.parse((agent.answers().at(-1) as { progress: { last_update: string } }).progress.last_update)

  /** An agent that has begun its fourth of five calls. */
  async function openDigging() {
    const clock = createManualClock()
    const dig = createGatedTool({ name: "dig", background: { mode: "never" }, timeoutMs: 3_600_000, obeys: true })
    const digs = ["a", "b", "c", "d", "e"].map((name) => call("dig", { name }))
    const main = [launch("Dig."), "It digs.", output(1), "Wait.", output(1), "Wait."]
    agent = await openDelegation(main, [...digs, "Dug."], { tools: [dig.tool], clock })
    await agent.session.send("dig")
    for (const number of [1, 2, 3]) (await dig.call(number)).finish()
    await dig.call(4)
    const saved = (calls: number) =>
      eventually("the progress is kept", async () => {
        clock.advance(100)
        return (await agent.task(1)).progress?.activity?.toolCalls === calls
      })
    await saved(4)
    return { dig, clock, saved }
  }
})
