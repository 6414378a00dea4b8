import type { LanguageModelV4StreamPart } from "@ai-sdk/provider"
import { describe, expect, onTestFinished, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { toConnectedModel } from "../../src/builtin/models/connected-model.ts"
import { createModelProviders } from "../../src/builtin/models/model-providers.ts"
import { textOf, userMessage } from "../../src/plugin/message.ts"
import { BEGINNINGS, COUNTED_ANSWERS, createStreamServer } from "../support/models/stream-server.ts"
import { APIS, MODELS, toRequest } from "../support/models/wire.ts"
import { createLanguageModel, FINISH } from "../support/models/language-model.ts"
import { openTestRuntime } from "../support/test-engine.ts"

const MINUTE_MS = 60_000
const settle = () => new Promise(setImmediate)

describe.each(APIS)("over the %s API", (api) => {
  test("a provider that sends nothing more for a minute is given up", async () => {
    const clock = createManualClock()
    const { connect } = await createStreamServer({ chunks: BEGINNINGS[api], ending: "hang" }, { clock })
    const model = await connect(MODELS[api])
    const heard = Promise.withResolvers<void>()
    const answer = model.generate(toRequest([userMessage("hi")], { onDelta: () => heard.resolve() }))
    answer.catch(() => undefined)
    await heard.promise
    clock.advance(MINUTE_MS)
    await expect(answer).rejects.toMatchObject({
      code: "model_unavailable",
      message: expect.stringMatching(/sent nothing for 60 s.*providers\.idleTimeoutSeconds/),
      details: { stalledMs: MINUTE_MS },
    })
  })
})

test("a provider that sends signs of life is waited for", async () => {
  const clock = createManualClock()
  const { readable: stream, writable } = new TransformStream<LanguageModelV4StreamPart>()
  const writer = writable.getWriter()
  const { model, calls } = createLanguageModel([], { doStream: async (options) => (calls.push(options), { stream }) })
  let isOver = false
  const answer = toConnectedModel("own/m", model, { clock })
    .generate(toRequest([userMessage("think hard")]))
    .finally(() => (isOver = true))
  for (let minute = 0; minute < 5; minute++) {
    await settle()
    clock.advance(MINUTE_MS - 1)
    await writer.write({ type: "raw", rawValue: { type: "ping" } })
  }
  await settle()
  expect([isOver, calls[0]?.includeRawChunks]).toEqual([false, true])
  await writer.write(FINISH)
  await writer.close()
  await answer
})

test("a server whose comments say that it is still there is waited for", async () => {
  const clock = createManualClock()
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const plugins = createModelProviders({
    environment: { OPENROUTER_API_KEY: "sk-0123456789" },
    clock,
    fetch: async () => new Response(readable, { headers: { "content-type": "text/event-stream" } }),
  })
  const model = await plugins.find(({ name }) => name === "openrouter")?.connect("some/model")
  const answer = model?.generate(toRequest([userMessage("think hard")]))
  for (let minute = 0; minute < 5; minute++) {
    await settle()
    clock.advance(MINUTE_MS - 1)
    await writer.write(Buffer.from(": still there\n\n"))
  }
  await settle()
  for (const chunk of COUNTED_ANSWERS.chat) await writer.write(Buffer.from(chunk))
  await writer.close()
  expect(textOf((await answer)?.message ?? userMessage(""))).toBe("Hi.")
})

test("a turn fails after one idle timeout of the configuration, and not after one for each try", async () => {
  const clock = createManualClock()
  const { model, calls } = createLanguageModel([], {
    doStream: (options) => (calls.push(options), new Promise(() => {})),
  })
  const runtime = await openTestRuntime({ model, clock, environment: {}, providers: { idleTimeoutSeconds: 5 } })
  onTestFinished(() => runtime.close())
  const session = await runtime.createSession()
  const events: { readonly type: string }[] = []
  session.on((event) => events.push(event))
  const sent = session.send("hi")
  sent.catch(() => undefined)
  while (calls.length === 0) await settle()
  clock.advance(4_999)
  await settle()
  expect(session.isBusy).toBe(true)
  clock.advance(1)
  await expect(sent).rejects.toMatchObject({ code: "model_unavailable", details: { stalledMs: 5_000 } })
  expect(calls).toHaveLength(1)
  expect(events.map(({ type }) => type)).not.toContain("model_call.retried")
})

test.each([0, -1, Number.NaN])("an idle timeout of %s is refused", async (idleTimeoutSeconds) => {
  const opening = openTestRuntime({ environment: {}, providers: { idleTimeoutSeconds } })
  await expect(opening).rejects.toMatchObject({ code: "invalid_input" })
})
