import { describe, expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import type { SessionId } from "../../src/task/id.ts"
import { isTerminal } from "../../src/task/lifecycle.ts"
import { lastSaid } from "../support/session/open-agent.ts"
import { eventually } from "../support/eventually.ts"
import {
  about,
  behindGate,
  endedAgain,
  launch,
  type OpenDelegation,
  openCompleted,
  openDelegation,
  resume,
} from "../support/background/open-delegation.ts"

/** The agent of the running test: scripts look at its tasks. */
let agent: OpenDelegation
const output = (number: number, more = {}) => about(() => agent, "background_output", number, more)
const ask = (prompt: string) => resume(() => agent, 1, prompt)

describe("Resume completed task with follow-up prompt", () => {
  test("002-19: background_task with resume and a prompt goes on with a completed task, under the same id", async () => {
    agent = await openCompleted([ask("And the folders?"), "I have asked."], ["2 folders."])
    const before = await agent.task(1)
    await agent.session.send("folders too")
    const after = await endedAgain(agent)
    expect(after).toMatchObject({ id: before.id, status: "completed", run: 2 })
    expect(JSON.stringify(after)).toContain("2 folders.")
    expect(agent.answers().at(-1)).toMatchObject({ task_id: before.id.slice(0, 8), status: "resumed" })
  })

  test("002-20: the prompt is sent to the agent's own session, and the answer comes at once", async () => {
    const { gate, step } = behindGate("2 folders.")
    agent = await openCompleted([ask("And the folders?"), "I have asked."], [step])
    expect((await agent.session.send("folders too")).text).toBe("I have asked.")
    await gate.reached
    expect(JSON.stringify(agent.asked().at(-1)?.messages.at(-1))).toContain("And the folders?")
    expect(isTerminal((await agent.task(1)).status)).toBe(false)
    gate.open()
    await endedAgain(agent)
  })

  test("002-21: the agent has its whole conversation before it", async () => {
    agent = await openCompleted([ask("And the folders?"), "I have asked."], ["2 folders."])
    await agent.session.send("folders too")
    await endedAgain(agent)
    const [first, second] = agent.asked()
    expect(second?.messages.slice(0, first?.messages.length)).toEqual(first?.messages)
    expect(JSON.stringify(second?.messages)).toMatch(/Count the files\..*3 files\..*And the folders\?/)
  })
})

describe("Track resumed status", () => {
  test("002-09: a task is resumed while its agent works on the follow-up, and completed again after that", async () => {
    const { gate, step } = behindGate("2 folders.")
    agent = await openCompleted([ask("And the folders?"), "Asked.", output(1), "Wait.", output(1), "2."], [step])
    await agent.session.send("folders too")
    await gate.reached
    await agent.session.send("and?")
    expect(agent.answers().at(-1)).toMatchObject({ status: "resumed", resume_count: 1 })
    gate.open()
    await endedAgain(agent)
    await agent.session.send("and now?")
    expect(agent.answers().at(-1)).toMatchObject({ status: "completed", resume_count: 1 })
  })
})

describe("Resume completion notification", () => {
  test("002-22: the whole response of a follow-up is told to the parent by itself", async () => {
    const response = `2 folders. ${"And more about them. ".repeat(60)}That is all.`
    agent = await openCompleted([ask("And the folders?"), "Asked.", "I see."], [response])
    await agent.session.send("folders too")
    expect((await endedAgain(agent)).status).toBe("completed")
    await agent.session.send("hello")
    const said = lastSaid(agent.model, -1)
    expect(said).toContain("2 folders.")
    expect(said).toContain("That is all.")
  })
})

describe("Wait for resume response", () => {
  test("002-23: background_output with block waits until the response is there", async () => {
    const { gate, step } = behindGate("2 folders.")
    agent = await openCompleted([ask("And the folders?"), output(1, { block: true }), "2 folders, it says."], [step])
    const turn = agent.session.send("folders too")
    await gate.reached
    gate.open()
    expect((await turn).text).toBe("2 folders, it says.")
    const told = agent.answers().at(-1)
    expect(told).toMatchObject({ status: "completed" })
    expect(JSON.stringify(told?.["result"])).toContain("2 folders.")
  })

  test("a wait is over after its timeout, by default a minute, and says that the result comes by itself", async () => {
    const clock = createManualClock()
    const { gate, step } = behindGate("late")
    agent = await openDelegation([launch("Count."), output(1, { block: true }), "Later then."], [step], { clock })
    const turn = agent.session.send("count")
    await gate.reached
    const began = clock.now()
    const over = { is: false }
    void turn.finally(() => (over.is = true))
    await eventually("the wait is over", () => {
      clock.advance(1_000)
      return over.is
    })
    expect(clock.now() - began).toBeGreaterThanOrEqual(60_000)
    expect((await turn).text).toBe("Later then.")
    expect(agent.answers().at(-1)).toMatchObject({ status: "running", note: expect.stringContaining("by itself") })
    gate.open()
    await agent.ended(1)
  })
})

describe("Reject resume of non-completed task", () => {
  test("002-24: only completed tasks can be resumed, and the error says so", async () => {
    const { gate, step } = behindGate("3.")
    agent = await openDelegation([launch("Count."), ask("And?"), "Not yet."], [step])
    await agent.session.send("count")
    expect(JSON.stringify(agent.answers().at(-1))).toContain("only completed tasks can be resumed")
    expect(await agent.task(1)).toMatchObject({ run: 1, resumeCount: 0 })
    gate.open()
    await agent.ended(1)
  })

  test("a task that failed or was cancelled cannot be resumed either", async () => {
    const cancel = about(() => agent, "background_cancel", 1)
    const { gate, step } = behindGate("late")
    agent = await openDelegation([launch("Count."), "Works.", cancel, ask("And?"), "No."], [step])
    await agent.session.send("count")
    await gate.reached
    await agent.session.send("stop, and ask it")
    expect(JSON.stringify(agent.answers().at(-1))).toContain("only completed tasks can be resumed")
  })
})

describe("Reject concurrent resume", () => {
  test("002-25: a task that is being resumed is not resumed a second time", async () => {
    const { gate, step } = behindGate("2 folders.")
    agent = await openCompleted([ask("And the folders?"), ask("And the links?"), "One at a time."], [step])
    await agent.session.send("folders and links")
    expect(JSON.stringify(agent.answers().at(-1))).toContain("is currently being resumed")
    gate.open()
    expect((await endedAgain(agent)).resumeCount).toBe(1)
    expect(agent.asked()).toHaveLength(2)
  })

  test("only one of two follow-ups in one message is sent", async () => {
    const { gate, step } = behindGate("2 folders.")
    const both: ScriptStep = async () => {
      const { id } = await agent.task(1)
      const inputs = ["And the folders?", "And the links?"].map((prompt) => ({ resume: id, prompt }))
      return { calls: inputs.map((input) => ({ tool: "background_task", input })) }
    }
    agent = await openCompleted([both, "One at a time."], [step])
    await agent.session.send("folders and links")
    const told = agent
      .answers()
      .slice(-2)
      .map((each) => JSON.stringify(each))
    expect(told.filter((each) => each.includes('"status":"resumed"'))).toHaveLength(1)
    expect(told.filter((each) => each.includes("is currently being resumed"))).toHaveLength(1)
    gate.open()
    await endedAgain(agent)
  })
})

describe("Handle expired session on resume", () => {
  test("002-26: when the agent's session is gone, the error suggests a new background_task", async () => {
    agent = await openCompleted([ask("And the folders?"), "Gone."], [])
    const child = agent.events.find((event) => event.type === "agent.created" && event.agent !== agent.session.id)
    expect(await agent.runtime.sessions.delete(child?.agent as SessionId)).toBe(true)
    await agent.session.send("folders too")
    const told = JSON.stringify(agent.answers().at(-1))
    expect(told).toContain("no longer exists")
    expect(told).toContain("new background_task")
    expect(await agent.task(1)).toMatchObject({ status: "completed", resumeCount: 0 })
  })
})
