import { type ErrorCode, isMeanwhileError, MeanwhileError } from "../../base/error.ts"
import { type Fault, readFault } from "./fault.ts"

/** The model that failed, and what takes secrets out of the error. */
export interface ModelErrorContext {
  /** `provider/name`. */
  readonly id: string
  readonly scrub: (text: string) => string
}

/** How each provider says that the conversation is longer than the model can take. */
const OVERFLOWS = [
  /context_length_exceeded|exceed_context_size|model_context_window_exceeded|request_too_large/,
  /exceeds? (the|its|this model's) (available |maximum )?context|maximum context length|maximum prompt length/,
  /prompt is too long|input is too long|input length and `?max_tokens`? exceed/,
  /input token count .{0,40}exceeds the maximum|exceeds the maximum number of tokens/,
  /reduce the length of the (messages|input|prompt)|greater than the context length|context window (is )?(full|exceeded)/,
]
const REFUSED_KEYS = /api_key_invalid|api key not valid|invalid_api_key|api key expired|invalid_grant/
const MISSING_CREDENTIALS = /default credentials|could not load .{0,40}credentials|unable to detect a project id/
const UNKNOWN_MODELS = /model_not_found|no such model|model .{0,80}does not exist|is not a valid model/
const EMPTY_ACCOUNTS = /insufficient_quota|billing_hard_limit/
/** Errors by which the SDK itself refuses what the provider would not take. */
const REFUSALS = /^AI_(UnsupportedFunctionality|InvalidPrompt|InvalidArgument|NoSuchProviderReference)Error$/
/** Errors whose messages quote what was received. */
const UNREADABLE = /^AI_(JSONParse|TypeValidation|InvalidResponseData|EmptyResponseBody)Error$/

const WORDINGS = {
  key_missing: { cause: "has no credentials", advice: "Set the key, or sign in, and try again." },
  key_refused: { cause: "refused the key", advice: "Check that the key is right and may use this model." },
  rate_limited: { cause: "limits how often it is called", advice: "Try again later, or use another model." },
  model_unavailable: { cause: "could not be reached or broke off", advice: "Try again, or use another model." },
  model_refused: { cause: "refused the request", advice: "Change what is asked for, or use another model." },
  context_overflow: {
    cause: "cannot take a conversation this long",
    advice: "Shorten the conversation, or use a model with a larger context.",
  },
  unknown_model: { cause: "does not know the model", advice: "Check the model's name and the provider's base URL." },
} as const satisfies Partial<Record<ErrorCode, { readonly cause: string; readonly advice: string }>>

/** Contract: neither key nor request is in the error, and the provider's error is not its cause, since that holds both. */
export function toModelError(error: unknown, { id, scrub }: ModelErrorContext): MeanwhileError {
  if (isMeanwhileError(error)) return error
  const fault = readFault(error)
  const code = toCode(fault)
  const { cause, advice } = WORDINGS[code]
  const sentence = UNREADABLE.test(fault.name) ? "its answer could not be read" : scrub(fault.sentence)
  const [provider = id] = id.split("/")
  const wait = fault.retryAfterMs === undefined ? "" : ` It asks to wait ${Math.ceil(fault.retryAfterMs / 1_000)} s.`
  return new MeanwhileError(code, `${provider} ${cause} (${id}): ${toSentence(sentence)}${wait} ${advice}`, {
    provider,
    model: id,
    ...(fault.status !== undefined && { status: fault.status }),
    ...(fault.retryAfterMs !== undefined && { retryAfterMs: fault.retryAfterMs }),
  })
}

/** A provider that stalled once is not asked again by itself: that would take as long again. */
export function toStall(id: string, stalledMs: number): MeanwhileError {
  const [provider = id] = id.split("/")
  const message = `${provider} sent nothing for ${stalledMs / 1_000} s, so the call was given up (${id}). Try again, use another model, or raise providers.idleTimeoutSeconds.`
  return new MeanwhileError("model_unavailable", message, { provider, model: id, stalledMs })
}

function toCode({ name, status, words }: Fault): keyof typeof WORDINGS {
  if (name === "AI_LoadAPIKeyError" || name === "AI_LoadSettingError") return "key_missing"
  if (name === "AI_NoSuchModelError") return "unknown_model"
  if (REFUSALS.test(name)) return "model_refused"
  if (UNREADABLE.test(name)) return "model_unavailable"
  if (MISSING_CREDENTIALS.test(words)) return "key_missing"
  if (REFUSED_KEYS.test(words) || status === 401) return "key_refused"
  if (status === 429) return EMPTY_ACCOUNTS.test(words) ? "model_refused" : "rate_limited"
  if (status === 413 || OVERFLOWS.some((pattern) => pattern.test(words))) return "context_overflow"
  if (status === 404 || (status !== undefined && UNKNOWN_MODELS.test(words))) return "unknown_model"
  if (status === 403) return "key_refused"
  if (status === undefined || status >= 500 || status === 408 || status === 409) return "model_unavailable"
  return "model_refused"
}

function toSentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`
}
