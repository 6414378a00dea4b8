import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3StreamPart } from "@ai-sdk/provider"
import { expect, onTestFinished, test } from "vitest"
import type { RuntimeOptions } from "../../src/app.ts"
import { toConnectedModel } from "../../src/builtin/models/connected-model.ts"
import { type FilePart, textOf, userMessage } from "../../src/plugin/message.ts"
import { createLanguageModel } from "../support/models/language-model.ts"
import { toRequest } from "../support/models/wire.ts"
import { openTestRuntime } from "../support/test-engine.ts"

const ANSWER: readonly LanguageModelV3StreamPart[] = [
  { type: "text-start", id: "1" },
  { type: "text-delta", id: "1", delta: "Hi." },
  { type: "text-end", id: "1" },
  { type: "file", mediaType: "image/png", data: "AQID" },
  {
    type: "finish",
    usage: {
      inputTokens: { total: 8, noCache: 8, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 2, text: 2, reasoning: 0 },
    },
    finishReason: { unified: "stop", raw: "stop" },
  },
]

/** A model object as the packages of AI SDK 6 make them. */
function createV3() {
  const calls: LanguageModelV3CallOptions[] = []
  const model: LanguageModelV3 = {
    specificationVersion: "v3",
    provider: "google.generative-ai",
    modelId: "older",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("never called")),
    doStream: async (options) => {
      calls.push(options)
      return { stream: ReadableStream.from(ANSWER) }
    },
  }
  return { model, calls }
}

const image: FilePart = { type: "file", mediaType: "image/png", name: "a.png", source: { data: "AQID" } }
const linked: FilePart = { type: "file", mediaType: "image/png", source: { url: "https://example.com/a.png" } }

test("a model object of AI SDK 6 (LanguageModelV3) answers a session", async () => {
  const { model, calls } = createV3()
  const runtime = await openTestRuntime({ model, environment: {} })
  onTestFinished(() => runtime.close())
  const session = await runtime.createSession()
  expect((await session.send("hello")).text).toBe("Hi.")
  expect([session.model, calls.length]).toEqual(["google/older", 1])
})

test("a model object of AI SDK 6 gets files in its own form, and gives them in ours", async () => {
  const { model, calls } = createV3()
  const connected = toConnectedModel("google/older", model)
  const result = { type: "result", callId: "c", tool: "t", isError: false, content: [image, linked] } as const
  const call = { type: "call", id: "c", tool: "t", input: {} } as const
  const { message } = await connected.generate(
    toRequest([
      userMessage("look", [image, linked]),
      { role: "assistant", parts: [call] },
      { role: "tool", parts: [result] },
    ]),
  )
  const [user, , tool] = calls[0]?.prompt.slice(1) ?? []
  expect(user?.content).toMatchObject([
    { type: "text" },
    { type: "file", data: "AQID", filename: "a.png" },
    { type: "file", data: new URL("https://example.com/a.png") },
  ])
  const value = [
    { type: "file-data", data: "AQID", mediaType: "image/png", filename: "a.png" },
    { type: "file-url", url: "https://example.com/a.png" },
  ]
  expect(tool?.content).toMatchObject([{ type: "tool-result", output: { type: "content", value } }])
  expect(message.parts.at(-1)).toMatchObject({ type: "file", mediaType: "image/png", source: { data: "AQID" } })
  expect(textOf(message)).toBe("Hi.")
})

const { model: current } = createLanguageModel([])
const { model: older } = createV3()

test.each([
  ["a number", 42, "`model` is 42."],
  ["null", null, "`model` is null."],
  ["a provider in place of its model", () => current, "`model` is a function."],
  ["an object that is none", { name: "gpt" }, "`model` is an object that is no model."],
  ["one of AI SDK 5", { ...older, specificationVersion: "v2" }, "`model` is a model of the specification v2."],
])("a model that is %s is refused by what it is", async (_, model, expected) => {
  const opening = openTestRuntime({ environment: {}, model: model as RuntimeOptions["model"] & string })
  await expect(opening).rejects.toMatchObject({ code: "invalid_input", message: expect.stringContaining(expected) })
})

test("a model given as an object leaves the other models of its provider as they are", async () => {
  const { model } = createLanguageModel([], { provider: "openai.responses", modelId: "mine" })
  const runtime = await openTestRuntime({ model, environment: { OPENAI_API_KEY: "sk-1234567890" } })
  onTestFinished(() => runtime.close())
  expect((await runtime.connect("openai/mine")).id).toBe("openai/mine")
  expect((await runtime.connect("openai/gpt-5")).id).toBe("openai/gpt-5")
  const alone = await openTestRuntime({ model: createLanguageModel([]).model, environment: {} })
  onTestFinished(() => alone.close())
  await expect(alone.connect("own/other")).rejects.toMatchObject({ code: "unknown_model" })
})
