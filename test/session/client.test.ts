import { expect, onTestFinished, test } from "vitest"
import { createClient } from "../../src/library.ts"
import type { RuntimeOptions } from "../../src/runtime.ts"
import { createTruncateGc } from "../../src/builtin/gc/gc-plugin.ts"
import type { Script } from "../../src/builtin/scripted/script.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { createFileSessionPlugin } from "../../src/builtin/session/file-session-plugin.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { textOf } from "../../src/plugin/message.ts"
import { createTokenLedger } from "../../src/session/ledger/ledger.ts"
import type { UiHooks } from "../../src/session/ui-hooks.ts"
import { createFolder } from "../support/workplace.ts"
import { add } from "../support/session/test-tools.ts"

const sums = definePlugin({ kind: "tool", name: "sums", tools: [add] })
const call = { tool: "add", input: { a: 1, b: 2 } }

function createClosedClient() {
  const client = createClient()
  onTestFinished(() => client.close())
  return client
}

async function connect(script: Script, options: RuntimeOptions = {}) {
  const client = createClosedClient()
  const model = createScriptedModel(script)
  client.configureTools({ plugins: [sums], environment: {}, ...options })
  await client.connect({ model })
  return { client, model }
}

test("hooks that are set twice are called once, and removed at once", async () => {
  const { client } = await connect(["one", "two"])
  const heard: string[] = []
  const hooks: UiHooks = { onAgentOutput: (_agent, _source, text) => void heard.push(text) }
  client.setUiHooks(hooks)
  const takeOff = client.setUiHooks(hooks)
  await client.sendMessage("a")
  expect(heard).toEqual(["one"])
  takeOff()
  await client.sendMessage("b")
  expect(heard).toEqual(["one"])
})

test("a second connect at the same moment is refused, and a close waits for the first", async () => {
  const client = createClosedClient()
  const first = client.connect({ model: createScriptedModel([]), environment: {} })
  await expect(client.connect({ environment: {} })).rejects.toMatchObject({ code: "wrong_state" })
  await client.close()
  await first
  expect(() => client.runtime).toThrow("not connected")
})

test("004-01: a client connects, is given tools, sends messages, has a history and begins anew", async () => {
  const { client, model } = await connect([{ calls: [call] }, "Three.", "Hello."])
  expect(await client.sendMessage("Add 1 and 2.")).toBe("Three.")
  expect(client.history().map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"])
  await client.reset()
  expect(client.history()).toEqual([])
  expect(await client.sendMessage("hi")).toBe("Hello.")
  expect(model.requests[2]?.messages.map(textOf)).toEqual(["hi"])
})

test("004-02: the runtime and the session behind a client can be had, once it is connected", async () => {
  const { client } = await connect(["from the main one", "from the other"])
  const other = await client.runtime.createSession()
  await client.session.send("a")
  expect((await other.send("b")).text).toBe("from the other")
  expect(client.history().map(textOf)).toEqual(["a", "from the main one"])
  const early = createClosedClient()
  expect(() => early.runtime).toThrow("await client.connect() first")
  await expect(early.sendMessage("hi")).rejects.toMatchObject({ code: "wrong_state" })
  await expect(client.connect()).rejects.toMatchObject({ code: "wrong_state" })
  expect(() => client.configureTools({})).toThrow("before connecting")
})

test("004-03: the gc, the session plugin and the hooks can be set on a client", async () => {
  const { client, model } = await connect([{ text: "one", usage: { inputTokens: 5_000 } }, "two"])
  const heard: string[] = []
  client.setUiHooks({ onAgentOutput: (_agent, _source, text) => heard.push(text) })
  client.setGc(createTruncateGc({ keepRecentTurns: 1 }), { thresholdPercent: 1, targetPercent: 0.01 })
  const plugin = createFileSessionPlugin({ directory: client.runtime.sessions, workingDirectory: createFolder() })
  await client.setSessionPlugin(plugin)
  expect(client.session.tools().map(({ name }) => name)).toContain("session_describe")
  await client.sendMessage(`long ago ${"x ".repeat(8_000)}`)
  await client.sendMessage("now")
  expect(heard).toEqual(["one", "two"])
  expect(JSON.stringify(model.requests[1]?.messages)).not.toContain("long ago")
  expect(await client.session.runCommand("save")).toContain("Saved")
  expect(await plugin.list()).toMatchObject([{ id: client.session.id, turns: 2 }])
})

test("004-04: a client says how full the context is, in tokens and percent", async () => {
  const { client } = await connect([{ text: "one", usage: { inputTokens: 31_000, outputTokens: 1_000 } }])
  expect(client.contextUsage()).toEqual({
    usedTokens: expect.any(Number),
    limitTokens: 128_000,
    percentUsed: expect.any(Number),
    turns: 0,
  })
  await client.sendMessage("hi")
  expect(client.contextUsage()).toEqual({ usedTokens: 32_000, limitTokens: 128_000, percentUsed: 25, turns: 1 })
})

test("sendMessage takes a callback alone, or options with one", async () => {
  const { client } = await connect([{ text: ["He", "llo"] }, "Bye"])
  const heard: string[] = []
  await client.sendMessage("a", (source, text, mode) => heard.push(`${source} ${mode} ${text}`))
  await client.sendMessage("b", { onOutput: (_source, text) => heard.push(text) })
  expect(heard).toEqual(["model write He", "model append llo", "Bye"])
})

test("004-64: a client's nine hooks follow an agent from its beginning to its end", async () => {
  const heard: string[] = []
  const note = (name: keyof UiHooks) => () => void heard.push(name)
  const names = [
    "onAgentCreated",
    "onAgentStatusChanged",
    "onAgentOutput",
    "onToolCallStart",
    "onToolCallEnd",
    "onAgentTurnCompleted",
    "onAgentContextUpdated",
    "onAgentHistoryUpdated",
    "onAgentCompleted",
  ] as const
  const client = createClosedClient()
  client.setUiHooks(Object.fromEntries(names.map((name) => [name, note(name)])))
  await client.connect({ plugins: [sums], environment: {}, model: createScriptedModel([{ calls: [call] }, "Three."]) })
  await client.sendMessage("go")
  await client.close()
  expect(heard).toEqual([
    "onAgentCreated",
    "onAgentStatusChanged",
    "onToolCallStart",
    "onToolCallEnd",
    "onAgentOutput",
    "onAgentTurnCompleted",
    "onAgentContextUpdated",
    "onAgentHistoryUpdated",
    "onAgentStatusChanged",
    "onAgentCompleted",
  ])
})

test("hooks set later are told of the existing agent, removed ones of nothing, and one that throws harms nobody", async () => {
  const { client } = await connect(["one", "two"])
  const heard: string[] = []
  client.setUiHooks({
    onAgentCreated() {
      throw new Error("broken")
    },
    onAgentOutput() {
      throw new Error("broken")
    },
  })
  const takeOff = client.setUiHooks({
    onAgentCreated: (agent, { name }) => heard.push(`${name} ${agent}`),
    onAgentOutput: (_agent, _source, text) => heard.push(text),
  })
  await client.sendMessage("a")
  takeOff()
  await client.sendMessage("b")
  expect(heard).toEqual([`main ${client.session.id}`, "one"])
})

test("004-63: the typical use of the framework runs", async () => {
  const model = createScriptedModel([{ text: "I look.", calls: [call] }, "There are 3.", "Nothing new."])
  const picky = definePlugin({ kind: "tool", name: "picky", tools: [], modelRequirements: ["gemini-3-pro*"] })
  const ledger = createTokenLedger()
  const client = createClosedClient()
  client.configureTools({ plugins: [sums, picky], ledger, environment: {} })
  await client.connect({ model })
  expect(client.runtime.plugins.skipped().map(({ name }) => name)).toEqual(["picky"])
  const printed: string[] = []
  const onOutput = (source: string, text: string): void => void printed.push(`[${source}]: ${text}`)
  expect(await client.sendMessage("What's in my current directory?", onOutput)).toBe("There are 3.")
  expect(await client.sendMessage("Show me the git log", onOutput)).toBe("Nothing new.")
  expect(printed).toEqual(["[model]: I look.", "[model]: There are 3.", "[model]: Nothing new."])
  expect(`Context: ${client.contextUsage().percentUsed.toFixed(1)}% used`).toMatch(/^Context: \d+\.\d% used$/)
  expect(ledger.total().calls).toBe(3)
})
