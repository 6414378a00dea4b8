import { join } from "node:path"
import { expect, test } from "vitest"
import { z } from "zod"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { createBackgroundPlugin } from "../../src/builtin/background/background-plugin.ts"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import { textOf } from "../../src/plugin/message.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { allowAll } from "../../src/runner/admit/permission.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"
import { createGate } from "../support/session/gate.ts"
import { PLACES } from "../support/session/open-agent.ts"
import { openSubagents, requestsOf } from "../support/session/open-subagents.ts"
import { endOf, startAgent } from "../support/session/start-agent.ts"

const READ: ScriptStep = { calls: [{ tool: "read" }] }
/** Every scripted call uses 15 tokens, which cost as many millionths here. */
const models = { "script/below": { price: { input: 1, output: 1 } } }

for (const [where, isKept] of PLACES) {
  for (const [what, budget] of [
    ["tokens", { tokens: 30 }],
    ["money", { costMicros: 30 }],
  ] as const) {
    test(`an agent that has used up its budget of ${what} hands back what it has in one last call without tools (${where})`, async () => {
      const opened = await openSubagents({ isKept, main: [], models, below: [READ, READ, "Half of it."] })
      const task = await endOf(opened, await startAgent(opened, { budget }))
      expect(task).toMatchObject({
        status: "completed",
        usage: { tokens: 45, costMicros: 45 },
        patch: { payload: { answer: "Half of it.", endedBecause: `its budget of ${what} is used up` } },
      })
      const [, , last] = requestsOf(opened.provider, "below")
      expect(last?.tools).toEqual([])
      expect(last && textOf(last.messages.at(-1) ?? { role: "user", parts: [] })).toContain("your work ends here")
    })
  }

  test(`the limits of a task give its agent a last call, too (${where})`, async () => {
    const opened = await openSubagents({
      isKept,
      main: [],
      below: [READ, READ, "Half of it."],
      background: { maxTokensPerTask: 20 },
    })
    expect(await endOf(opened, await startAgent(opened))).toMatchObject({
      status: "completed",
      usage: { tokens: 45 },
      patch: { payload: { answer: "Half of it." } },
    })
  })

  test(`an agent whose time is over is not waited for, and hands back what it has (${where})`, async () => {
    const clock = createManualClock()
    const opened = await openSubagents({
      isKept,
      clock,
      main: [],
      below: [READ, { gate: new Promise(() => {}), text: "never said" }, "What I have."],
    })
    const started = await startAgent(opened, { budget: { timeMs: 5_000 } })
    await eventually("it thinks", () => requestsOf(opened.provider, "below").length === 2)
    clock.advance(5_000)
    expect(await endOf(opened, started)).toMatchObject({
      status: "completed",
      patch: { payload: { answer: "What I have.", endedBecause: "its time is over" } },
    })
    expect(requestsOf(opened.provider, "below")[2]?.tools).toEqual([])
  })
}

test("a last call that calls tools all the same ends the work", async () => {
  const opened = await openSubagents({ main: [], below: [READ, { text: "Well.", calls: [{ tool: "read" }] }] })
  const task = await endOf(opened, await startAgent(opened, { budget: { tokens: 15 } }))
  expect(task).toMatchObject({ status: "completed", patch: { payload: { answer: "Well." } } })
  expect(requestsOf(opened.provider, "below")).toHaveLength(2)
})

test("tasks that an agent left running are stopped when its budget is used up", async () => {
  const slow = defineTool({
    name: "slow",
    description: "Takes its time.",
    input: z.object({}),
    background: { mode: "always" },
    run: (_input, { signal }) =>
      new Promise<string>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  })
  const opened = await openSubagents({ main: [], tools: [slow], below: [{ calls: [{ tool: "slow" }] }, "Ended."] })
  await endOf(opened, await startAgent(opened, { budget: { tokens: 15 } }))
  const [left] = (await opened.runtime.tasks.list({ tool: "slow" })).items
  expect(await endOf(opened, left as never)).toMatchObject({ status: "cancelled", stop: { by: "budget" } })
})

test("after a shutdown a budget counts what was spent before it", async () => {
  const dataDirectory = join(createFolder(), "data")
  const gate = createGate()
  const below = [READ, () => ({ gate: gate.pass(), text: "never said" })]
  const first = await openSubagents({ main: ["Hello."], below, dataDirectory })
  await first.session.send("Hello.")
  const { id } = await startAgent(first, { budget: { tokens: 15 + 15 } })
  await gate.reached
  await first.runtime.close()
  const second = await openSubagents({ main: [], below: ["What I have."], dataDirectory })
  expect(await endOf(second, { id })).toMatchObject({ patch: { payload: { answer: "What I have." } } })
  // The call that was cut off counts too: together with the first call it is past the budget.
  expect(requestsOf(second.provider, "below").map(({ tools }) => tools)).toEqual([[]])
})

test("a follow-up has a budget of its own", async () => {
  const opened = await openSubagents({ main: [], below: [READ, "One.", READ, "Two."] })
  const { id } = await endOf(opened, await startAgent(opened, { budget: { tokens: 40 } }))
  await opened.runtime.tasks.resume(id, "Go on.")
  const task = await endOf(opened, { id })
  expect(task).toMatchObject({ usage: { tokens: 60 }, patch: { payload: { answer: "Two." } } })
  expect(requestsOf(opened.provider, "below").every(({ tools }) => tools.length > 0)).toBe(true)
})

test("the limits of a task hold for all its runs together", async () => {
  const opened = await openSubagents({
    main: [],
    below: [READ, "One.", READ, "Two."],
    background: { maxTokensPerTask: 40 },
  })
  const { id } = await endOf(opened, await startAgent(opened))
  await opened.runtime.tasks.resume(id, "Go on.")
  expect(await endOf(opened, { id })).toMatchObject({ usage: { tokens: 60 }, patch: { payload: { answer: "Two." } } })
  expect(requestsOf(opened.provider, "below").map(({ tools }) => tools.length > 0)).toEqual([true, true, true, false])
})

test("an agent that waits for its task in a call when its time is over is released", async () => {
  const clock = createManualClock()
  const slow = createGatedTool({ background: { mode: "always" }, obeys: true })
  const opened = await openSubagents({
    clock,
    main: [],
    tools: [slow.tool],
    plugins: [createBackgroundPlugin()],
    permissions: allowAll,
    below: [
      { calls: [{ tool: "start_task", input: { tool: "gated", input: {}, group: "work", seal: true } }] },
      { calls: [{ tool: "wait_for", input: { group: "work", limit_seconds: 3_000 } }] },
      "What I have.",
    ],
  })
  const started = await startAgent(opened, { budget: { timeMs: 5_000 } })
  await slow.call(1)
  await eventually("it waits", () => requestsOf(opened.provider, "below").length === 2)
  // Advances once: a clock that runs on while the store is written passes the limit of the whole task, too.
  clock.advance(5_000)
  await eventually("its time is over", () => requestsOf(opened.provider, "below").length === 3)
  expect(await endOf(opened, started)).toMatchObject({
    patch: { payload: { answer: "What I have.", endedBecause: "its time is over" } },
  })
})

test("a budget of zero is refused", async () => {
  const opened = await openSubagents({ main: [], below: [] })
  await expect(startAgent(opened, { budget: { tokens: 0 } })).rejects.toThrow(/budget/)
})

test("a budget of money is refused if the model's price is not known", async () => {
  const opened = await openSubagents({ main: [], below: ["Worked."] })
  const task = await endOf(opened, await startAgent(opened, { budget: { costMicros: 30 } }))
  expect(task).toMatchObject({
    status: "failed",
    failure: {
      code: "invalid_input",
      message: expect.stringMatching(/price of script\/below is not known.*token budget/),
    },
  })
})
