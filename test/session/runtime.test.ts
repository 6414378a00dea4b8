import { expect, onTestFinished, test } from "vitest"
import { createRuntime, type RuntimeOptions } from "../../src/app.ts"
import { createTruncateGc } from "../../src/builtin/gc/gc-plugin.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { createScriptedProvider } from "../../src/builtin/scripted/scripted-provider.ts"
import { createFileSessionPlugin } from "../../src/builtin/session/file-session-plugin.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import type { Message } from "../../src/plugin/message.ts"
import { collectGarbage } from "../support/collect-garbage.ts"
import { createFolder } from "../support/workplace.ts"
import { openAgent, resultsOf, resultText } from "../support/session/open-agent.ts"
import { add, say } from "../support/session/test-tools.ts"

const call = { tool: "add", input: { a: 1, b: 2 } }
const sums = definePlugin({ kind: "tool", name: "sums", tools: [add], systemInstructions: "Add." })

test("004-08: a thousand sessions of one runtime cost little, and share its providers, plugins and ledger", async () => {
  function* answers() {
    for (;;) yield "ok"
  }
  const { runtime, model } = await openAgent(answers(), { tools: [add] })
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  const sessions = await Promise.all(Array.from({ length: 1_000 }, () => runtime.createSession()))
  expect(new Set(sessions.map(({ id }) => id)).size).toBe(1_000)
  collectGarbage()
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(50_000_000)
  await Promise.all(sessions.map((session) => session.send("hi")))
  expect([model.callCount, runtime.ledger.total().calls]).toEqual([1_000, 1_000])
})

test("004-13: plugins of all four kinds are registered the same way, and each does its part", async () => {
  const directory = createFolder()
  const provider = createScriptedProvider("own", { model: [{ calls: [call] }, "Three."] })
  const { runtime } = await openAgent([], { plugins: [sums, createTruncateGc(), provider] })
  const files = createFileSessionPlugin({ directory: runtime.sessions, workingDirectory: directory })
  await runtime.plugins.register(files)
  const kinds = ["tool", "gc", "session", "model_provider"] as const
  const names = kinds.map((kind) => runtime.plugins.list({ kind }).map(({ name }) => name))
  expect(names).toMatchObject([["sums"], ["gc_truncate"], [files.name], expect.arrayContaining(["own"])])
  const session = await runtime.createSession({ model: "own/model" })
  expect((await session.send("go")).text).toBe("Three.")
  expect(session.tools().map(({ name }) => name)).toEqual(["add", "session_describe"])
})

test("004-15: plugins are discovered by name from what loads them, and one that cannot be used is skipped", async () => {
  const load = async ({ source }: { readonly source: string }): Promise<unknown> => {
    if (source === "meanwhile-sums") return sums
    throw new Error("no such package")
  }
  const entries = [{ source: "meanwhile-sums" }, { source: "missing" }]
  const { runtime, session } = await openAgent([{ calls: [call] }, "Three."], { discovery: { entries, load } })
  expect(runtime.plugins.list({ kind: "tool" }).map(({ name }) => name)).toEqual(["sums"])
  expect(runtime.plugins.skipped()).toMatchObject([{ name: "missing", reason: "failed_to_load" }])
  await session.send("go")
  expect(resultsOf(session.history()).map(resultText)).toEqual(['{"sum":3}'])
})

test("004-16: a plugin is exposed with its configuration and unexposed again, and sessions see it at once", async () => {
  const configured: unknown[] = []
  const talk = definePlugin({
    kind: "tool",
    name: "talk",
    tools: [say],
    initialize: (config: unknown) => void configured.push(config),
    shutdown: () => void configured.push("shut down"),
  })
  const { runtime, session, model } = await openAgent(["one", "two", "three"])
  await runtime.plugins.register(talk, { expose: false })
  await session.send("a")
  await runtime.plugins.expose("talk", { voice: "low" })
  await session.send("b")
  await runtime.plugins.unexpose("talk")
  await session.send("c")
  expect(model.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([[], ["say"], []])
  expect(configured).toEqual([{ voice: "low" }, "shut down"])
})

test("004-17: the model is told each tool's name, description and schema, and its call runs the plugin's function", async () => {
  const { session, model } = await openAgent([{ calls: [call] }, "Three."], { plugins: [sums] })
  await session.send("go")
  expect(model.requests[0]?.tools).toMatchObject([
    {
      name: "add",
      description: expect.stringContaining("Adds two numbers."),
      inputSchema: { type: "object", properties: { a: { type: "number" } }, required: ["a", "b"] },
    },
  ])
  expect(resultsOf(session.history()).map(resultText)).toEqual(['{"sum":3}'])
})

test("004-34: a provider is initialized before its models are connected, and shut down with the runtime", async () => {
  const course: string[] = []
  const scripted = createScriptedProvider("own", { model: ["hello"] })
  const provider = definePlugin({
    ...scripted,
    initialize: () => void course.push("initialize"),
    connect(name: string) {
      course.push(`connect ${name}`)
      return scripted.connect(name)
    },
    shutdown: () => void course.push("shutdown"),
  })
  const runtime = await createRuntime({ model: "own/model", plugins: [provider], environment: {} })
  onTestFinished(() => runtime.close())
  const session = await runtime.createSession()
  await session.send("hi")
  await runtime.close()
  expect(course).toEqual(["initialize", "connect model", "shutdown"])
})

test("004-36: tokens are counted against the limit that the provider or the catalogue knows", async () => {
  const { session: own } = await openAgent(["one"], { scripted: { contextLimitTokens: 500 } })
  const models = { "scripted/*": { contextLimitTokens: 2_000 } }
  const { session: listed } = await openAgent(["one"], { models })
  const { session: unknown } = await openAgent(["one"])
  const limits = [own, listed, unknown].map((session) => session.contextUsage().limitTokens)
  expect(limits).toEqual([500, 2_000, 128_000])
  await own.send("hi")
  expect(own.contextUsage()).toMatchObject({ usedTokens: 15, percentUsed: 3 })
})

test("004-38: a provider of one's own sees messages, parts, tools, calls and results in one shape", async () => {
  const { session, model } = await openAgent([{ text: "I add.", calls: [{ ...call, id: "c1" }] }, "Three."], {
    plugins: [sums],
  })
  await session.send("go")
  const expected: readonly Message[] = [
    { role: "user", parts: [{ type: "text", text: "go" }] },
    {
      role: "assistant",
      parts: [
        { type: "text", text: "I add." },
        { type: "call", id: "c1", tool: "add", input: { a: 1, b: 2 } },
      ],
    },
    {
      role: "tool",
      parts: [
        { type: "result", callId: "c1", tool: "add", isError: false, content: [{ type: "text", text: '{"sum":3}' }] },
      ],
    },
  ]
  expect(model.requests[1]?.messages).toEqual(expected)
})

test("004-39: an answer is message, finish and usage, and a model given as an object is used as it is", async () => {
  const { generate } = createScriptedModel([{ text: "Cut", finish: "length", usage: { outputTokens: 9 } }])
  const runtime = await createRuntime({ model: { id: "mine/model", generate }, environment: {} })
  onTestFinished(() => runtime.close())
  const session = await runtime.createSession()
  const { text, accounting } = await session.send("hi")
  expect([text, session.model, accounting.usage.outputTokens]).toEqual(["Cut", "mine/model", 9])
})

test("004-47: the registry hands out schemas, tools, commands and enrichers of what is exposed", async () => {
  const rich = definePlugin({
    kind: "tool",
    name: "rich",
    tools: [say],
    userCommands: [{ name: "hi", description: "Says hi.", run: () => "hi" }],
    enrichPrompt: (prompt: string) => ({ prompt }),
    autoApprovedTools: ["say"],
  })
  const { runtime, session } = await openAgent(["ok"], { plugins: [rich] })
  const offers = () => [
    runtime.plugins.toolSchemas().map(({ name }) => name),
    runtime.plugins.tools().map(({ tool }) => tool.name),
    runtime.plugins.userCommands().map(({ command }) => command.name),
    runtime.plugins.promptEnrichers().map(({ plugin }) => plugin),
    runtime.plugins.autoApprovedTools().map(({ tool }) => tool),
  ]
  expect(offers()).toEqual([["say"], ["say"], ["hi"], ["rich"], ["say"]])
  expect(await session.runCommand("hi")).toBe("hi")
  await runtime.plugins.unexpose("rich")
  expect(offers()).toEqual([[], [], [], [], []])
})

test("an option that is misspelled is refused before anything is opened, and what is no option is passed over", async () => {
  const misspelled = { datadirectory: "x" } as RuntimeOptions
  const message = 'createRuntime has no option "datadirectory". Did you mean dataDirectory?'
  await expect(createRuntime(misspelled)).rejects.toMatchObject({ code: "invalid_input", message })
  const spread = { colour: "red", environment: {} } as RuntimeOptions
  await (await createRuntime(spread)).close()
})
