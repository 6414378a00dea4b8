import { inspect } from "node:util"
import { describe, expect, test } from "vitest"
import type { ErrorCode } from "../../src/base/error.ts"
import { MeanwhileError } from "../../src/base/error.ts"
import { userMessage } from "../../src/plugin/message.ts"
import type { ConnectedModel, ModelRequest } from "../../src/plugin/model.ts"
import { BEGINNINGS, createStreamServer, type StreamAnswer, toEvents } from "./stream-server.ts"
import { APIS, type Api, collectDeltas, createWire, KEY, MODELS, toRequest } from "./wire.ts"

const SECRET_WORDS = "a private matter of the person"

/** Fails unless the error is ours and holds neither key nor request, however deep one looks. */
async function catchError(model: ConnectedModel, more: Partial<ModelRequest> = {}): Promise<MeanwhileError> {
  const error: unknown = await model
    .generate(toRequest([userMessage(SECRET_WORDS)], more))
    .catch((error: unknown) => error)
  if (!(error instanceof MeanwhileError)) throw new Error(`not refused: ${inspect(error)}`)
  const everything = `${inspect(error, { depth: 20, showHidden: true })} ${JSON.stringify(error.details)} ${error.stack}`
  expect(everything).not.toContain(KEY)
  expect(everything).not.toContain(KEY.slice(0, 12))
  expect(everything).not.toContain(SECRET_WORDS)
  expect(error.message).toContain(model.id)
  return error
}

async function provoke(api: Api, answer: StreamAnswer): Promise<MeanwhileError> {
  const { connect } = await createStreamServer(answer)
  return catchError(await connect(MODELS[api]))
}

describe.each(APIS)("over the %s API", (api) => {
  test("a 429 says when to come back", async () => {
    const { mock, connect } = await createWire()
    const error = { message: "Slow down, please.", type: "rate_limit_error" }
    mock.on({ predicate: () => true }, { error, status: 429, retryAfter: 7 })
    const caught = await catchError(await connect(MODELS[api]))
    expect(caught).toMatchObject({ code: "rate_limited", details: { retryAfterMs: 7_000, status: 429 } })
    expect(caught.message).toContain("Slow down, please.")
  })

  test("a call is never made twice by itself", async () => {
    const { mock, connect, requests } = await createWire()
    mock.on({ predicate: () => true }, { error: { message: "broken" }, status: 500 })
    expect((await catchError(await connect(MODELS[api]))).code).toBe("model_unavailable")
    expect(requests).toHaveLength(1)
  })

  test("a refused key is not shown, even where the provider quotes it", async () => {
    const quoted = {
      type: "authentication_error",
      message: `Incorrect API key provided: ${KEY}.`,
      code: 401,
      status: "X",
    }
    const body = JSON.stringify({ type: "error", error: quoted })
    const error = await provoke(api, { status: 401, chunks: [body] })
    expect(error.code).toBe("key_refused")
    expect(error.message).toContain("[key]")
  })

  test("a connection that drops in mid-answer is no answer", async () => {
    const { connect } = await createStreamServer({ chunks: BEGINNINGS[api], ending: "drop" })
    const { deltas, onDelta } = collectDeltas()
    expect((await catchError(await connect(MODELS[api]), { onDelta })).code).toBe("model_unavailable")
    expect(deltas).toEqual([{ type: "text", text: "Hi." }])
  })

  test("a stream that ends early is no answer", async () => {
    expect((await provoke(api, { chunks: BEGINNINGS[api] })).code).toBe("model_unavailable")
  })

  test.each([
    ["no JSON", "data: {{ not json\n\n"],
    ["another shape", 'data: {"type":"message_delta","choices":"none","candidates":7,"delta":5}\n\n'],
  ])("a chunk that is %s is no answer", async (_, chunk) => {
    expect((await provoke(api, { chunks: [...BEGINNINGS[api], chunk] })).code).toBe("model_unavailable")
    expect((await provoke(api, { chunks: [chunk] })).code).toBe("model_unavailable")
  })

  test("a server that is not there is unavailable", async () => {
    const { mock, connect } = await createWire()
    const model = await connect(MODELS[api])
    await mock.stop()
    expect((await catchError(model)).code).toBe("model_unavailable")
  })

  test("an abort ends a hanging answer with the signal's own reason", async () => {
    const { connect } = await createStreamServer({ chunks: BEGINNINGS[api], ending: "hang" })
    const controller = new AbortController()
    const reason = new Error("the person pressed stop")
    const model = await connect(MODELS[api])
    const answer = model.generate(
      toRequest([userMessage("hello")], { signal: controller.signal, onDelta: () => controller.abort(reason) }),
    )
    await expect(answer).rejects.toBe(reason)
  })
})

const STATUSES: readonly (readonly [Api, number, unknown, ErrorCode])[] = [
  [
    "responses",
    404,
    { error: { message: "The model `gpt-9` does not exist", code: "model_not_found" } },
    "unknown_model",
  ],
  [
    "responses",
    400,
    { error: { message: "Your input exceeds the context window of this model.", code: "context_length_exceeded" } },
    "context_overflow",
  ],
  [
    "responses",
    429,
    { error: { message: "You exceeded your current quota.", code: "insufficient_quota" } },
    "model_refused",
  ],
  ["responses", 400, { error: { message: "Invalid value: 'temperature'." } }, "model_refused"],
  [
    "chat",
    400,
    { error: { message: "This model's maximum context length is 8192 tokens.", type: "BadRequestError" } },
    "context_overflow",
  ],
  ["chat", 500, { error: { message: "the input exceeds the available context size" } }, "context_overflow"],
  ["chat", 402, { error: { message: "Insufficient credits" } }, "model_refused"],
  ["chat", 503, { error: { message: "no healthy upstream" } }, "model_unavailable"],
  [
    "anthropic",
    400,
    {
      type: "error",
      error: { type: "invalid_request_error", message: "prompt is too long: 210000 tokens > 200000 maximum" },
    },
    "context_overflow",
  ],
  [
    "anthropic",
    413,
    { type: "error", error: { type: "request_too_large", message: "Request exceeds the maximum size" } },
    "context_overflow",
  ],
  [
    "anthropic",
    529,
    { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
    "model_unavailable",
  ],
  ["anthropic", 403, { type: "error", error: { type: "permission_error", message: "no access" } }, "key_refused"],
  [
    "anthropic",
    400,
    { type: "error", error: { type: "invalid_request_error", message: "messages: roles must alternate" } },
    "model_refused",
  ],
  [
    "google",
    400,
    { error: { code: 400, message: "API key not valid. Please pass a valid API key.", status: "INVALID_ARGUMENT" } },
    "key_refused",
  ],
  [
    "google",
    400,
    {
      error: {
        code: 400,
        message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        status: "INVALID_ARGUMENT",
      },
    },
    "context_overflow",
  ],
  [
    "google",
    404,
    { error: { code: 404, message: "models/gemini-9 is not found", status: "NOT_FOUND" } },
    "unknown_model",
  ],
]

test.each(STATUSES)("%s %i %j is %s", async (api, status, body, code) => {
  expect((await provoke(api, { status, chunks: [JSON.stringify(body)] })).code).toBe(code)
})

const IN_STREAM: readonly (readonly [Api, unknown, ErrorCode])[] = [
  ["anthropic", { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }, "model_unavailable"],
  ["anthropic", { type: "error", error: { type: "rate_limit_error", message: "Slow down" } }, "rate_limited"],
  [
    "responses",
    { type: "error", sequence_number: 3, error: { type: "server_error", code: "server_error", message: "Oh." } },
    "model_unavailable",
  ],
  [
    "responses",
    { type: "error", sequence_number: 3, error: { type: "tokens", code: "rate_limit_exceeded", message: "Slow" } },
    "rate_limited",
  ],
  ["chat", { error: { message: "upstream is gone", code: 502 } }, "model_unavailable"],
  ["google", { error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } }, "model_unavailable"],
]

test.each(IN_STREAM)("an error in the middle of a stream of %s, %j, is %s", async (api, event, code) => {
  expect((await provoke(api, { chunks: [...BEGINNINGS[api], ...toEvents(event)] })).code).toBe(code)
})

test.each([
  [{ "retry-after-ms": "1500" }, 1_500],
  [{ "retry-after": "0.5" }, 500],
  [{ "retry-after": "Thu, 01 Jan 2026 00:00:09 GMT", date: "Thu, 01 Jan 2026 00:00:00 GMT" }, 9_000],
])("the headers %j mean a wait of %i ms", async (headers, retryAfterMs) => {
  const error = await provoke("chat", { status: 429, headers, chunks: ['{"error":{"message":"slow"}}'] })
  expect(error.details).toMatchObject({ retryAfterMs })
})

test("Google's wait is read from where Google says it", async () => {
  const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.5s" }]
  const body = { error: { code: 429, message: "Quota exceeded", status: "RESOURCE_EXHAUSTED", details } }
  const error = await provoke("google", { status: 429, chunks: [JSON.stringify(body)] })
  expect(error).toMatchObject({ code: "rate_limited", details: { retryAfterMs: 34_500 } })
})
