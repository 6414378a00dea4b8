import { expect, test } from "vitest"
import type { ErrorCode } from "../../src/base/error.ts"
import { BEGINNINGS, toEvents } from "../support/models/stream-server.ts"
import { type Api } from "../support/models/wire.ts"
import { provoke } from "../support/models/provoke.ts"

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
