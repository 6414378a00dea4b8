import { expect, test } from "vitest"
import { createBackgroundPlugin } from "../../src/builtin/background/background-plugin.ts"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import { allowAll } from "../../src/runner/admit/permission.ts"
import { LIVE_STATUSES } from "../../src/task/lifecycle.ts"
import { eventually } from "../support/eventually.ts"
import { createGate } from "../support/session/gate.ts"
import { openSubagents, requestsOf, resultsIn, WORKER } from "../support/session/open-subagents.ts"
import { endOf, startAgent } from "../support/session/start-agent.ts"

test("agents count against the limit of the model that their profile names", async () => {
  const gate = createGate()
  const opened = await openSubagents({
    main: ["Other."],
    below: [() => ({ gate: gate.pass(), text: "One." }), "Two."],
    profiles: [WORKER, { ...WORKER, name: "other", model: "script/main" }],
    background: { maxConcurrentPerModel: { "script/below": 1 } },
  })
  const first = await startAgent(opened)
  await gate.reached
  const second = await startAgent(opened)
  const third = await startAgent(opened, { profile: "other" })
  expect([first.model, second.model, third.model]).toEqual(["script/below", "script/below", "script/main"])
  await endOf(opened, third)
  expect(await opened.runtime.tasks.get(second.id)).toMatchObject({ task: { status: "queued" }, placeInQueue: 1 })
  expect(requestsOf(opened.provider, "below")).toHaveLength(1)
  gate.open()
  expect(await endOf(opened, second)).toMatchObject({ patch: { payload: { answer: "Two." } } })
})

test("an agent of an unknown profile is refused before anything is started", async () => {
  const opened = await openSubagents({ main: [], below: [] })
  await expect(startAgent(opened, { profile: "wroker" })).rejects.toThrow(/no profile "wroker". Did you mean worker/)
  expect((await opened.runtime.tasks.list({ kinds: ["agent"] })).items).toEqual([])
})

test("agents that start agents in the background are at most three levels deep", async () => {
  /** An agent that is asked for the first time starts another one. */
  const deeper: ScriptStep = ({ messages }) =>
    messages.length === 1 ? { calls: [{ tool: "start_agent", input: { task: "Go deeper." } }] } : "Done."
  const { runtime, session, provider } = await openSubagents({
    main: Array.from({ length: 20 }, () => deeper),
    plugins: [createBackgroundPlugin()],
    permissions: allowAll,
  })
  await session.send("Go deep.")
  const live = async () => (await runtime.tasks.list({ statuses: LIVE_STATUSES })).items
  await eventually("everything has ended", async () => (await live()).length === 0)
  const { items } = await runtime.tasks.list({ kinds: ["agent"] })
  expect(items.map(({ depth }) => depth).toReversed()).toEqual([1, 2, 3])
  const told = requestsOf(provider, "main").flatMap(({ messages }) => resultsIn(messages))
  const refused = told.filter(({ isError }) => isError).map(({ content }) => JSON.stringify(content))
  expect(refused[0]).toContain("An agent here would be 4 levels deep; at most 3 are allowed.")
})

test("an agent with as many live agents as are allowed starts no more", async () => {
  const gate = createGate()
  const start = { calls: [{ tool: "start_agent", input: { task: "Help.", profile: "worker" } }] }
  const again = { calls: [{ tool: "start_agent", input: { task: "Help more.", profile: "worker" } }] }
  const { runtime, session } = await openSubagents({
    main: [start, again, "Well."],
    below: [() => ({ gate: gate.pass(), text: "Helped." })],
    plugins: [createBackgroundPlugin()],
    permissions: allowAll,
    background: { maxAgentFanOut: 1 },
  })
  await session.send("Go.")
  expect(resultsIn(session.history()).map(({ isError }) => isError)).toEqual([false, true])
  expect((await runtime.tasks.list({ kinds: ["agent"] })).items).toHaveLength(1)
  gate.open()
})
