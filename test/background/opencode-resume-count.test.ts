import { describe, expect, test } from "vitest"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import { isTerminal } from "../../src/task/lifecycle.ts"
import { eventually } from "../support/eventually.ts"
import { call } from "../support/background/open-background.ts"
import { about, endedAgain, type OpenDelegation, openCompleted, resume } from "../support/background/open-delegation.ts"

/** The agent of the running test: scripts look at its tasks. */
let agent: OpenDelegation
const output = (number: number, more = {}) => about(() => agent, "background_output", number, more)
const ask = (prompt: string) => resume(() => agent, 1, prompt)

describe("Initial resume count", () => {
  test("a new task was resumed no time", async () => {
    agent = await openCompleted([output(1), "3."], [])
    await agent.session.send("and?")
    expect((await agent.task(1)).resumeCount).toBe(0)
    expect(agent.answers().at(-1)).toMatchObject({ resume_count: 0 })
  })
})

describe("Increment resume count", () => {
  test("002-27: each follow-up counts one, from zero", async () => {
    agent = await openCompleted([ask("One?"), "Asked.", ask("Two?"), "Asked."], ["1.", "2."])
    expect((await agent.task(1)).resumeCount).toBe(0)
    await agent.session.send("one")
    expect((await endedAgain(agent)).resumeCount).toBe(1)
    await agent.session.send("two")
    const twice = await eventually("the second ends", async () => {
      const task = await agent.task(1)
      return task.run === 3 && isTerminal(task.status) && task
    })
    expect(twice).toMatchObject({ resumeCount: 2, status: "completed" })
  })
})

describe("Show resumed indicator", () => {
  test('002-31: "(resumed)" stands after the id of a task that was resumed, and the id is still taken with it', async () => {
    const read: ScriptStep = async () =>
      call("background_output", { task_id: `${(await agent.task(1)).id.slice(0, 8)} (resumed)` })
    agent = await openCompleted(
      [ask("And the folders?"), "Asked.", call("background_list"), read, "Listed."],
      ["2 folders."],
    )
    await agent.session.send("folders too")
    const { id } = await endedAgain(agent)
    await agent.session.send("list")
    const [list, told] = agent.answers().slice(-2)
    expect(list?.["text"]).toContain(`\n${id.slice(0, 8)} (resumed) | completed`)
    expect(told).toMatchObject({ status: "completed" })
  })
})

describe("No indicator for new tasks", () => {
  test("a task that was never resumed is listed by its id alone", async () => {
    agent = await openCompleted([call("background_list"), "Listed."], [])
    const { id } = await agent.task(1)
    await agent.session.send("list")
    expect(agent.answers().at(-1)?.["text"]).toContain(`\n${id.slice(0, 8)} | completed`)
    expect(JSON.stringify(agent.answers().at(-1))).not.toContain("(resumed)")
  })
})
