import { expect, test } from "vitest"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { textOf } from "../../src/plugin/message.ts"
import type { ToolPlugin } from "../../src/plugin/tool-plugin.ts"
import type { Tool } from "../../src/plugin/tool.ts"
import { createGatedTool } from "../support/tools.ts"
import { createGate, type Gate } from "../support/session/gate.ts"
import { findHistoryProblems } from "../support/session/history-problems.ts"
import { lastSaid, openAgent, openScripted } from "../support/session/open-agent.ts"
import { add } from "../support/session/test-tools.ts"

test("a description is refused while a turn runs elsewhere, and that turn comes to its end", async () => {
  const gate = createGate()
  const { session, folder } = await openAgent([() => ({ gate: gate.pass(), text: "one" }), "two"], { isKept: true })
  const there = await openScripted(createScriptedModel([]), { isKept: true, folder })
  const sent = session.send("a")
  await gate.reached
  await expect(there.runtime.sessions.describe(session.id, "numbers")).rejects.toMatchObject({ code: "session_busy" })
  gate.open()
  expect((await sent).text).toBe("one")
  await there.runtime.sessions.describe(session.id, "numbers")
  expect((await session.send("b")).text).toBe("two")
  expect((await session.state()).description).toBe("numbers")
})

test("a call that another process answers while a prompt is enriched here gets no second answer", async () => {
  const [atTool, atPrompt] = [createGate(), createGate()]
  const script = [{ calls: [{ tool: "add", input: { a: 1, b: 2 } }] }, "three"]
  const { session, folder } = await openAgent(script, { isKept: true, tools: [createGated(atTool)] })
  const enricher = createSlowEnricher(atPrompt)
  const there = await openScripted(createScriptedModel(["four"]), { isKept: true, folder, plugins: [enricher] })
  const sent = session.send("a")
  await atTool.reached
  const other = await there.runtime.openSession(session.id)
  const next = other.send("b")
  await atPrompt.reached
  atTool.open()
  await sent
  atPrompt.open()
  expect((await next).text).toBe("four")
  expect(other.history().map(textOf)).toEqual(["a", "", "", "three", "b", "four"])
  expect(findHistoryProblems(other.history())).toEqual([])
})

test.each([
  ["a turn of another process", "turn"],
  ["somebody who reads the result", "reader"],
])("a notice that %s uses while a prompt is enriched here is not told again", async (_, how) => {
  const gated = createGatedTool({ background: { mode: "always" } })
  const script = [{ calls: [{ tool: "gated" }] }, "It runs.", "Bread."]
  const { session, folder, runtime } = await openAgent(script, { isKept: true, tools: [gated.tool] })
  await session.send("start it")
  const call = await gated.call(1)
  call.finish("bread")
  const { items } = await runtime.tasks.list({ session: session.id, kinds: ["tool"] })
  const id = items[0]?.id ?? ""
  await runtime.tasks.result(id, { waitMs: 60_000 })
  const atPrompt = createGate()
  const plugins = [createSlowEnricher(atPrompt)]
  const model = createScriptedModel(["Nothing new."])
  const there = await openScripted(model, { isKept: true, folder, plugins })
  const other = await there.runtime.openSession(session.id)
  const next = other.send("what now?")
  await atPrompt.reached
  if (how === "turn") await session.send("well?")
  else await runtime.tasks.result(id, { consume: true })
  atPrompt.open()
  await next
  expect(lastSaid(model, 0)).toBe("what now?")
  expect(other.history().filter((message) => textOf(message).includes("| bread"))).toHaveLength(how === "turn" ? 1 : 0)
})

test("a message to a conversation that was deleted elsewhere is refused, and brings nothing of it back", async () => {
  const { session, folder } = await openAgent(["one", "two"], { isKept: true })
  const there = await openScripted(createScriptedModel([]), { isKept: true, folder })
  await session.send("a")
  await there.runtime.sessions.delete(session.id)
  await expect(session.send("b")).rejects.toMatchObject({
    code: "not_found",
    message: expect.stringContaining("was deleted elsewhere. Begin a new one."),
  })
  expect(await there.runtime.sessions.load(session.id)).toBeUndefined()
})

function createSlowEnricher(gate: Gate): ToolPlugin {
  return definePlugin({
    kind: "tool",
    name: "slow_enricher",
    tools: [],
    enrichPrompt: (prompt: string) => gate.pass().then(() => ({ prompt })),
  })
}

function createGated(gate: Gate): Tool {
  return { ...add, run: () => gate.pass() }
}
