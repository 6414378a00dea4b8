import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { createTruncateGc } from "../../src/builtin/gc/gc-plugin.ts"
import { showModel } from "../../src/plugin/tool.ts"
import type { SessionDirectory } from "../../src/plugin/sessions-port.ts"
import { createEngineSessionPlugin } from "../../src/builtin/session/engine-session-plugin.ts"
import { readBytes } from "../support/stored.ts"
import { createGate } from "../support/session/gate.ts"
import { type OpenAgent, openAgent, openScripted } from "../support/session/open-agent.ts"
import { add, say } from "../support/session/test-tools.ts"

const picture = { type: "file", mediaType: "image/png", source: { data: "iVBORw0KGgo=" } } as const
const show = { ...say, name: "show", run: async () => showModel([picture, { type: "text", text: "ü €" }], "shown") }

async function reopen({ runtime, session, folder }: OpenAgent, script: readonly string[] = []) {
  await runtime.close()
  const model = createScriptedModel(script)
  const { runtime: next } = await openScripted(model, { isKept: true, folder })
  return { session: await next.openSession(session.id), model, runtime: next }
}

test("004-37: a history comes back from the store identical, with reasoning, metadata, files and errors", async () => {
  const calls = [
    { tool: "show", input: { text: "x" }, id: "call-α" },
    { tool: "nothing", input: "no { json" },
  ]
  const script = [{ reasoning: "hm", text: "I look.\u0000\ud83d\ude00", calls }, "Done."]
  const agent = await openAgent(script, { isKept: true, tools: [show] })
  await agent.session.send("look", { files: [{ ...picture, metadata: { test: { cache: true } } }] })
  const before = JSON.parse(JSON.stringify(agent.session.history()))
  const { session } = await reopen(agent)
  expect(session.history()).toEqual(before)
})

test("004-33: a session is kept by the store as it is said, with name, model, tools, instructions and turns", async () => {
  const wanted = { name: "baker", tools: ["add"], instructions: "Bake." }
  const agent = await openAgent(["one", "two"], { isKept: true, tools: [add, say], session: wanted })
  await agent.session.send("a")
  await agent.session.send("b")
  const { session, model } = await reopen(agent, ["three"])
  expect([session.name, session.contextUsage().turns]).toEqual(["baker", 2])
  await session.send("c")
  expect(model.requests[0]).toMatchObject({ system: "Bake.", messages: { length: 5 } })
})

test("what was collected or reset stays so after reopening", async () => {
  const agent = await openAgent([{ text: "one ".repeat(300), usage: { inputTokens: 350 } }, "two", "three"], {
    isKept: true,
    scripted: { contextLimitTokens: 400 },
  })
  agent.session.setGc(createTruncateGc({ keepRecentTurns: 1 }))
  await agent.session.send("a")
  await agent.session.send("b")
  const kept = agent.session.history()
  expect(JSON.stringify(kept)).not.toContain("one one")
  const { session, runtime } = await reopen(agent)
  expect(session.history()).toEqual(kept)
  await session.reset()
  expect((await runtime.sessions.load(session.id))?.messages).toEqual([])
})

test("a session that nothing was said in leaves nothing, and one that is not there is not found", async () => {
  const { runtime, session } = await openAgent([], { isKept: true })
  expect(await runtime.sessions.list()).toEqual({ items: [] })
  await session.close()
  await expect(runtime.openSession(session.id)).rejects.toMatchObject({ code: "not_found" })
})

test("a secret never reaches the store, wherever it is said, and the conversation at hand still has it", async () => {
  const secret = `sk-ant-api03-${"a1B2c3D4e5F6g7H8".repeat(5)}`
  const gate = createGate()
  const hold = { ...say, name: "hold", run: async () => gate.pass().then(() => null) }
  const calls = [
    { tool: "say", input: { text: secret } },
    { tool: "hold", input: { text: "" } },
    { tool: "session_describe", input: { description: `With ${secret}` } },
  ]
  const sessionPlugin = (directory: SessionDirectory) => createEngineSessionPlugin({ directory })
  const agent = await openAgent([{ reasoning: secret, text: `I say ${secret}`, calls }, `Said ${secret}`], {
    isKept: true,
    tools: [say, hold],
    sessionPlugin,
    session: { instructions: `Use ${secret}`, name: "main" },
  })
  const sent = agent.session.send(`My key is ${secret}`)
  await gate.reached
  await new Promise(setImmediate)
  gate.open()
  await sent
  expect(JSON.stringify(agent.model.requests[1]?.messages)).toContain(secret)
  expect(findInFiles(agent.folder, secret)).toEqual([])
  expect(await readBytes(join(agent.folder, "data"))).not.toContain(secret)
  await agent.runtime.close()
  expect(await readBytes(join(agent.folder, "data"))).not.toContain(secret)
  expect(findInFiles(agent.folder, secret)).toEqual([])
})

function findInFiles(directory: string, text: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text))
}
