import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import type { SessionPlugin } from "../../src/plugin/session-plugin.ts"
import { allowAll } from "../../src/runner/admit/permission.ts"
import { silentLog } from "../../src/runner/redaction/redacting-log.ts"
import { eventually } from "../support/eventually.ts"
import { openTestRuntime } from "../support/test-engine.ts"
import { createFolder } from "../support/workplace.ts"
import { createGate } from "../support/session/gate.ts"
import { resultsOf } from "../support/session/open-agent.ts"
import { add } from "../support/session/test-tools.ts"

test("a session plugin hears of a turn that was handed back at a shutdown and went on at the next start", async () => {
  const dataDirectory = join(createFolder(), "data")
  const completed: number[] = []
  const sessionPlugin = (): SessionPlugin =>
    definePlugin({
      kind: "session",
      name: "hears",
      save: async () => {},
      load: async () => undefined,
      list: async () => [],
      delete: async () => false,
      setDescription: async () => {},
      needsDescription: () => false,
      onTurnCompleted: ({ turns }) => void completed.push(turns),
    })
  const gate = Promise.withResolvers<void>()
  const slow = createScriptedModel([{ gate: gate.promise, text: "never said" }])
  const first = await openTestRuntime({ dataDirectory, sessionPlugin, model: slow })
  const session = await first.createSession()
  const sent = session.send("Go.").catch((error: unknown) => error)
  await eventually("the model is asked", () => slow.callCount === 1)
  await first.close()
  expect(await sent).toMatchObject({ code: "closed" })
  expect(completed).toEqual([])
  const second = await openTestRuntime({ dataDirectory, sessionPlugin, model: createScriptedModel(["Done."]) })
  onTestFinished(() => second.close())
  await eventually("the plugin hears of it", () => completed.length > 0)
  expect(completed).toEqual([1])
  expect((await second.sessions.load(session.id))?.messages).toHaveLength(2)
})

test("a worker that hands back a turn which it had continued has nothing to warn of", async () => {
  const dataDirectory = join(createFolder(), "data")
  const warnings: string[] = []
  const warn = (message: string): void => void warnings.push(message)
  const log = { ...silentLog, warn, error: warn }
  let asked = 0
  for (const life of [1, 2]) {
    const gate = createGate()
    const model = createScriptedModel([() => ({ gate: gate.pass(), text: "never said" })])
    const runtime = await openTestRuntime({ dataDirectory, model, log })
    if (life === 1) void (await runtime.createSession()).send("Go.").catch(() => {})
    await gate.reached
    asked += model.callCount
    await runtime.close()
  }
  expect(asked).toBe(2)
  expect(warnings).toEqual([])
})

test("a turn that is handed back says so, and what it calls itself when it goes on is run", async () => {
  const dataDirectory = join(createFolder(), "data")
  const plugins = [definePlugin({ kind: "tool", name: "test", tools: [add] })]
  const gate = createGate()
  const slow = createScriptedModel([() => ({ gate: gate.pass(), text: "never said" })])
  const first = await openTestRuntime({ dataDirectory, plugins, model: slow, permissions: allowAll })
  const statuses: unknown[] = []
  const session = await first.createSession()
  session.on((event) => event.type === "agent.status_changed" && statuses.push([event.status, event.reason]))
  const sent = session.send("Add.").catch((error: unknown) => error)
  await gate.reached
  await first.close()
  await sent
  expect(statuses).toEqual([
    ["active", undefined],
    ["done", "the turn goes on at the next start"],
  ])
  const model = createScriptedModel([{ calls: [{ tool: "add", input: { a: 1, b: 2 } }] }, "Three."])
  const second = await openTestRuntime({ dataDirectory, plugins, model, permissions: allowAll })
  onTestFinished(() => second.close())
  await eventually("the turn has ended", async () => (await second.sessions.load(session.id))?.turns === 1)
  const { messages = [] } = (await second.sessions.load(session.id)) ?? {}
  expect(resultsOf(messages).map(({ isError, content }) => [isError, content])).toEqual([
    [false, [{ type: "text", text: '{"sum":3}' }]],
  ])
})
