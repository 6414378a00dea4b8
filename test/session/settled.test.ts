import { describe, expect, onTestFinished, test } from "vitest"
import { z } from "zod"
import { createBackgroundPlugin } from "../../src/builtin/background/background-plugin.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { textOf } from "../../src/plugin/message.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { isTerminal } from "../../src/task/lifecycle.ts"
import { eventually } from "../support/eventually.ts"
import { createGate } from "../support/session/gate.ts"
import { openAgent, openScripted, PLACES } from "../support/session/open-agent.ts"
import { openSubagents } from "../support/session/open-subagents.ts"
import { startAgent } from "../support/session/start-agent.ts"
import { createGatedTool } from "../support/tools.ts"

const start = (name: string, more: object = {}): ScriptStep => ({
  calls: [{ tool: "start_task", input: { tool: "gated", input: { name }, ...more } }],
})

function openGated(script: readonly ScriptStep[], options: Parameters<typeof openAgent>[1] = {}) {
  const gated = createGatedTool({ obeys: true })
  const plugins = [createBackgroundPlugin()]
  return openAgent(script, { plugins, tools: [gated.tool], reports: { enabled: true }, ...options }).then((agent) => ({
    ...agent,
    gated,
  }))
}

/** Whether it has resolved, as far as the test can tell. */
function watch(promise: Promise<unknown>): () => boolean {
  let isDone = false
  void promise.then(() => (isDone = true))
  return () => isDone
}

describe.each(PLACES)("a session is settled, %s", (_, isKept) => {
  test("at once when nothing was ever said", async () => {
    const { session } = await openAgent([], { isKept })
    await session.settled()
  })

  test("when its turn, its task, and the report that started another task are over and told", async () => {
    const script = [start("one"), "It runs.", start("two"), "One is done, two runs.", "Two is done."]
    const { session, gated } = await openGated(script, { isKept })
    const turn = await session.start("Go.")
    const settled = session.settled()
    const isSettled = watch(settled)
    await turn.result
    ;(await gated.call(1)).finish("first")
    const second = await gated.call(2)
    expect(isSettled()).toBe(false)
    second.finish("second")
    await settled
    expect(textOf(session.history().at(-1) ?? { role: "user", parts: [] })).toBe("Two is done.")
    expect((await session.trajectory.unconsumed()).size).toBe(0)
  })

  test("without reports once its tasks have ended: their results wait for the next message", async () => {
    const { session, gated } = await openGated([start("one"), "It runs."], { isKept, reports: { enabled: false } })
    await session.send("Go.")
    const isSettled = watch(session.settled())
    const settled = session.settled()
    const call = await gated.call(1)
    expect(isSettled()).toBe(false)
    call.finish("first")
    await settled
    expect((await session.trajectory.unconsumed()).size).toBe(1)
  })

  test("although a task lives forever, and an abort ends the wait without stopping anything", async () => {
    const { session, gated, runtime } = await openGated([start("one"), "It runs."], { isKept })
    await session.send("Go.")
    await gated.call(1)
    const given = new AbortController()
    const settled = session.settled(given.signal)
    given.abort()
    await settled
    const [task] = (await runtime.tasks.list({ session: session.id, kinds: ["tool"] })).items
    expect(task?.status).toBe("running")
    const other = await runtime.createSession()
    const forever = await runtime.tasks.start({ tool: "gated", input: {}, session: other.id, lifetime: "forever" })
    await other.settled()
    await runtime.tasks.cancel(forever.id)
  })

  test("when messages that wait behind its turn were answered", async () => {
    const gate = createGate()
    const { session } = await openAgent([() => ({ gate: gate.pass(), text: "one" }), "two"], { isKept })
    const sent = [session.send("a"), session.send("b")]
    const settled = session.settled()
    gate.open()
    await settled
    expect(session.turns()).toHaveLength(2)
    await Promise.all(sent)
  })
})

test("a session whose agent works in the background is settled when the agent's own tasks have ended", async () => {
  const gated = createGatedTool({ background: { mode: "always" }, obeys: true })
  const opened = await openSubagents({
    main: ["All dug."],
    below: [{ calls: [{ tool: "gated" }] }, "I wait for it.", "Here it is."],
    tools: [gated.tool],
    reports: { enabled: true },
  })
  const { session, runtime } = opened
  const { id } = await startAgent(opened)
  const settled = session.settled()
  const isSettled = watch(settled)
  const call = await gated.call(1)
  await eventually("it waits", async () => (await runtime.tasks.get(id)).task.progress?.phase === "waiting for tasks")
  expect(isSettled()).toBe(false)
  call.finish("deep down")
  await settled
  expect(textOf(session.history().at(-1) ?? { role: "user", parts: [] })).toBe("All dug.")
})

test("an agent that only a person's answer brings on is not waited for", async () => {
  const asks = defineTool({
    name: "asks",
    description: "Asks.",
    input: z.object({}),
    background: { mode: "always" },
    run: async (_, { person }) => person.ask({ kind: "text", text: "Which?" }),
  })
  const opened = await openSubagents({ main: [], below: [{ calls: [{ tool: "asks" }] }, "I wait."], tools: [asks] })
  const { runtime, session } = opened
  const { id } = await startAgent(opened)
  await session.settled()
  expect(isTerminal((await runtime.tasks.get(id)).task.status)).toBe(false)
  expect(await runtime.desk({ workspace: "default", actor: "me" }).inbox.list()).toHaveLength(1)
})

test("a session is settled while a task waits for a person, and again once that was answered", async () => {
  const gated = createGatedTool({ obeys: true, effects: ["delete"] })
  const { session, runtime } = await openAgent([start("one"), "It waits.", "It is done."], {
    isKept: true,
    tools: [gated.tool],
    plugins: [createBackgroundPlugin()],
    permissions: {},
    reports: { enabled: true },
  })
  await session.send("Go.")
  await session.settled()
  const desk = runtime.desk({ workspace: "default", actor: "me" })
  const [item] = await desk.inbox.list()
  if (!item) throw new Error("Nobody was asked.")
  await desk.inbox.answer(item.id, true)
  const settled = session.settled()
  ;(await gated.call(1)).finish("done")
  await settled
  expect((await runtime.tasks.get(item.task.id)).task.status).toBe("completed")
})

test("a session whose turn another process has is settled when that turn has ended", async () => {
  const gate = createGate()
  const here = await openAgent([() => ({ gate: gate.pass(), text: "one" })], { isKept: true })
  const sent = here.session.send("a")
  await gate.reached
  const { runtime } = await openScripted(createScriptedModel([]), { isKept: true, folder: here.folder })
  const other = await runtime.openSession(here.session.id)
  const isSettled = watch(other.settled())
  const settled = other.settled()
  await eventually("it has looked", async () => (await other.recall({ count: 1 })).length === 1)
  expect(isSettled()).toBe(false)
  gate.open()
  await sent
  await settled
})

test("the end of a task whose wake-up was lost settles the session at the next look", async () => {
  const clock = createManualClock()
  const { session, gated, runtime } = await openGated([start("one"), "It runs."], { isKept: true, clock, reports: {} })
  await session.send("Go.")
  const call = await gated.call(1)
  Object.assign(runtime.engine.bus, { subscribe: () => () => undefined })
  const settled = session.settled().then(() => true)
  call.finish("done")
  await eventually("it is settled", () => {
    clock.advance(1_000)
    return Promise.race([settled, Promise.resolve(false)])
  })
})

test("the wait ends with the session and with the runtime", async () => {
  const { session, gated, runtime } = await openGated([start("one"), "It runs."], { isKept: true })
  onTestFinished(() => runtime.close())
  await session.send("Go.")
  await gated.call(1)
  const settled = session.settled()
  await runtime.close()
  await settled
  await session.settled()
})
