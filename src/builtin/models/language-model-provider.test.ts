import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider"
import { expect, test } from "vitest"
import type { Message } from "../../plugin/message.ts"
import { userMessage } from "../../plugin/message.ts"
import { toConnectedModel } from "./connected-model.ts"
import { deserializeHistory } from "./history.ts"
import { createLanguageModelProvider } from "./language-model-provider.ts"

const USAGE = {
  inputTokens: { total: undefined, noCache: 3, cacheRead: 4, cacheWrite: 1 },
  outputTokens: { total: undefined, text: 2, reasoning: 5 },
}
const FINISH: LanguageModelV4StreamPart = {
  type: "finish",
  usage: USAGE,
  finishReason: { unified: "stop", raw: "stop" },
}

function createModel(parts: readonly LanguageModelV4StreamPart[], more: Partial<LanguageModelV4> = {}) {
  const calls: LanguageModelV4CallOptions[] = []
  const model: LanguageModelV4 = {
    specificationVersion: "v4",
    provider: "own.chat",
    modelId: "m",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("never called")),
    doStream: async (options) => {
      calls.push(options)
      return { stream: ReadableStream.from(parts) }
    },
    ...more,
  }
  return { model, calls }
}

function toRequest(messages: readonly Message[], signal = new AbortController().signal) {
  return { system: "", messages, tools: [], signal }
}

test("a provider object of the AI SDK is a plugin as it is", async () => {
  const { model } = createModel([
    { type: "text-start", id: "1" },
    { type: "text-delta", id: "1", delta: "Hi." },
    { type: "text-end", id: "1" },
    { type: "file", mediaType: "image/png", data: { type: "data", data: new Uint8Array([1, 2, 3]) } },
    FINISH,
  ])
  const connected = await createLanguageModelProvider("own", () => model).connect("m")
  expect(connected.id).toBe("own/m")
  expect(await connected.generate(toRequest([userMessage("hello")]))).toEqual({
    message: {
      role: "assistant",
      parts: [
        { type: "text", text: "Hi." },
        { type: "file", mediaType: "image/png", source: { data: "AQID" } },
      ],
    },
    finish: "stop",
    usage: { inputTokens: 8, cachedInputTokens: 4, outputTokens: 7, reasoningTokens: 5 },
  })
})

test("metadata that a provider attaches to a file of its answer goes back to it with the file", async () => {
  const providerMetadata = { google: { thoughtSignature: "abc" } }
  const data = { type: "data", data: "AQID" } as const
  const file = { type: "file", mediaType: "image/png", data, providerMetadata } as const
  const { model, calls } = createModel([file, FINISH], { provider: "google.generative-ai" })
  const connected = toConnectedModel("google/m", model)
  const { message } = await connected.generate(toRequest([userMessage("draw")]))
  await connected.generate(toRequest([userMessage("draw"), message, userMessage("again")]))
  expect(calls[1]?.prompt[1]).toMatchObject({ content: [{ type: "file", providerOptions: providerMetadata }] })
})

test("a model of a version before AI SDK 6 is refused by its version", () => {
  const { model } = createModel([])
  const old = { ...model, specificationVersion: "v2" } as unknown as LanguageModelV4
  expect(() => createLanguageModelProvider("own", () => old).connect("m")).toThrow(/specification v2.*LanguageModelV4/)
})

test("a message is converted once, however often it is sent", async () => {
  const { model, calls } = createModel([FINISH])
  const connected = toConnectedModel("own/m", model)
  const messages = [userMessage("one"), userMessage("two")]
  await connected.generate(toRequest(messages))
  await connected.generate(toRequest([...messages, userMessage("three")]))
  expect(calls[1]?.prompt[0]).toBe(calls[0]?.prompt[0])
  expect(calls[1]?.prompt).toHaveLength(3)
})

test("files that tools return follow after all results where an API takes only text there", async () => {
  const { model, calls } = createModel([FINISH])
  const image = { type: "file", mediaType: "image/png", source: { data: "AQID" } } as const
  const toResult = (callId: string) =>
    ({ type: "result", callId, tool: "t", isError: false, content: [image] }) as const
  await toConnectedModel("own/m", model).generate(
    toRequest([
      { role: "tool", parts: [toResult("a")] },
      { role: "tool", parts: [toResult("b")] },
      userMessage("what now?"),
    ]),
  )
  expect(calls[0]?.prompt.map(({ role }) => role)).toEqual(["tool", "tool", "user", "user"])
})

test("messages that would be empty for the provider are left out", async () => {
  const { model, calls } = createModel([FINISH])
  const foreign: Message = {
    role: "assistant",
    parts: [{ type: "reasoning", text: "of another", metadata: { anthropic: { signature: "s" } } }],
  }
  await toConnectedModel("own/m", model).generate(
    toRequest([userMessage("a"), foreign, userMessage("  "), userMessage("b")]),
  )
  expect(calls[0]?.prompt.map(({ role }) => role)).toEqual(["user", "user"])
})

test("an abort ends the call even if the model never looks at its signal", async () => {
  const { model } = createModel([], { doStream: () => new Promise(() => undefined) })
  const controller = new AbortController()
  const reason = new Error("enough")
  const answer = toConnectedModel("own/m", model).generate(toRequest([userMessage("a")], controller.signal))
  controller.abort(reason)
  await expect(answer).rejects.toBe(reason)
})

test("an error that a listener throws is not taken for the model's", async () => {
  const { model } = createModel([{ type: "text-delta", id: "1", delta: "Hi." }, FINISH])
  const mistake = new Error("a mistake in the listener")
  const onDelta = () => {
    throw mistake
  }
  const answer = toConnectedModel("own/m", model).generate({ ...toRequest([userMessage("a")]), onDelta })
  await expect(answer).rejects.toBe(mistake)
})

test.each([
  ["no JSON", "{", /no history/],
  ["an unknown role", '[{"role":"boss","parts":[]}]', /0\.role/],
  ["a part of another role", '[{"role":"user","parts":[{"type":"call"}]}]', /0\.parts\.0\.type/],
])("a history with %s is refused with its place", (_, text, expected) => {
  expect(() => deserializeHistory(text)).toThrow(expected)
})

test("what a request asks for reaches the model, and goes before what is always sent", async () => {
  const { model, calls } = createModel([FINISH], { provider: "openai.responses" })
  await toConnectedModel("openai/m", model).generate({
    ...toRequest([userMessage("a")]),
    tools: [{ name: "tasks.add", description: "Adds.", inputSchema: { type: "object" } }],
    toolChoice: { tool: "tasks.add" },
    providerOptions: { openai: { reasoningEffort: "low" }, other: { a: 1 } },
    temperature: 0.5,
    maxOutputTokens: 70,
  })
  expect(calls[0]).toMatchObject({
    toolChoice: { type: "tool", toolName: "tasks_add" },
    providerOptions: { openai: { store: false, reasoningEffort: "low" }, other: { a: 1 } },
    temperature: 0.5,
    maxOutputTokens: 70,
  })
})
