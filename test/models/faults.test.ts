import { describe, expect, test } from "vitest"
import { userMessage } from "../../src/plugin/message.ts"
import { BEGINNINGS, createStreamServer } from "../support/models/stream-server.ts"
import { APIS, collectDeltas, createWire, KEY, MODELS, toRequest } from "../support/models/wire.ts"
import { catchError, provoke } from "../support/models/provoke.ts"

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

  test("a connection that drops in mid-answer fails the call", async () => {
    const { connect } = await createStreamServer({ chunks: BEGINNINGS[api], ending: "drop" })
    const { deltas, onDelta } = collectDeltas()
    expect((await catchError(await connect(MODELS[api]), { onDelta })).code).toBe("model_unavailable")
    expect(deltas).toEqual([{ type: "text", text: "Hi." }])
  })

  test("a stream that ends early fails the call", async () => {
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

test.each([
  [{ "retry-after-ms": "1500" }, 1_500],
  [{ "retry-after": "0.5" }, 500],
  [{ "retry-after": "Thu, 01 Jan 2026 00:00:09 GMT", date: "Thu, 01 Jan 2026 00:00:00 GMT" }, 9_000],
])("the headers %j mean a wait of %i ms", async (headers, retryAfterMs) => {
  const error = await provoke("chat", { status: 429, headers, chunks: ['{"error":{"message":"slow"}}'] })
  expect(error.details).toMatchObject({ retryAfterMs })
})

test("the wait that Google asks for is read from the body of its answer", async () => {
  const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.5s" }]
  const body = { error: { code: 429, message: "Quota exceeded", status: "RESOURCE_EXHAUSTED", details } }
  const error = await provoke("google", { status: 429, chunks: [JSON.stringify(body)] })
  expect(error).toMatchObject({ code: "rate_limited", details: { retryAfterMs: 34_500 } })
})
