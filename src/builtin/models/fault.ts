/** The facts of an error that a provider's SDK threw or streamed, without its request. */
export interface Fault {
  /** The class of an SDK's error: `AI_APICallError`. */
  readonly name: string
  /** The HTTP status, also where the provider expressed it differently. */
  readonly status: number | undefined
  /** The provider's own sentence. */
  readonly sentence: string
  /** All words of the error, in lower case: to be searched, never shown. */
  readonly words: string
  readonly retryAfterMs: number | undefined
}

const LONGEST_BODY = 20_000

/** In the middle of a stream, providers send a word in place of a status. The first match counts. */
const STATUS_OF_WORD: readonly (readonly [RegExp, number])[] = [
  [/rate_limit|too_many_requests|resource_exhausted/, 429],
  [/overloaded/, 529],
  [/authentication_error|invalid_api_key|unauthenticated/, 401],
  [/permission_error|permission_denied/, 403],
  [/not_found_error|model_not_found/, 404],
  [/server_error|api_error|internal_error|"unavailable"|timeout/, 500],
  [/invalid_request|invalid_argument|invalid_prompt/, 400],
]

export function readFault(error: unknown): Fault {
  const outer = toFields(error)
  const inner = toFields(toFields(outer["response"])["error"] ?? outer["error"])
  const sentence = findText(outer["message"], inner["message"], typeof error === "string" ? error : undefined)
  const body = findText(outer["responseBody"]) ?? toText(outer["data"] ?? error)
  const words = `${sentence ?? ""} ${body.slice(0, LONGEST_BODY)}`.toLowerCase()
  return {
    name: findText(outer["name"]) ?? "",
    status: findStatus(outer["statusCode"], outer["status"], inner["code"], outer["code"]) ?? guessStatus(outer, words),
    sentence: sentence ?? "it gave no reason",
    words,
    retryAfterMs: readRetryAfter(toFields(outer["responseHeaders"])) ?? readRetryDelay(words),
  }
}

/** `retry-after-ms`, or `retry-after` in seconds or as a date. */
function readRetryAfter(headers: Readonly<Record<string, unknown>>): number | undefined {
  const milliseconds = toAmount(headers["retry-after-ms"])
  if (milliseconds !== undefined) return Math.ceil(milliseconds)
  const seconds = toAmount(headers["retry-after"])
  if (seconds !== undefined) return Math.ceil(seconds * 1_000)
  const until = Date.parse(String(headers["retry-after"]))
  const now = Date.parse(String(headers["date"]))
  return Number.isNaN(until) ? undefined : Math.max(0, until - (Number.isNaN(now) ? Date.now() : now))
}

/** Google's `"retryDelay": "34.07s"`. */
function readRetryDelay(words: string): number | undefined {
  const seconds = toAmount(/"retrydelay":\s*"([\d.]+)s"/.exec(words)?.[1])
  return seconds === undefined ? undefined : Math.ceil(seconds * 1_000)
}

/** A failed call without a status or a body never got an answer. Any other error is recognised by its words. */
function guessStatus(fields: Readonly<Record<string, unknown>>, words: string): number | undefined {
  if (fields["name"] === "AI_APICallError" && fields["responseBody"] === undefined) return undefined
  return STATUS_OF_WORD.find(([pattern]) => pattern.test(words))?.[1]
}

function findStatus(...candidates: readonly unknown[]): number | undefined {
  return candidates.map(Number).find((value) => Number.isInteger(value) && value >= 400 && value < 600)
}

function findText(...candidates: readonly unknown[]): string | undefined {
  return candidates.find((value): value is string => typeof value === "string" && value.trim() !== "")
}

function toAmount(value: unknown): number | undefined {
  if (typeof value !== "string" || value.trim() === "") return undefined
  const amount = Number(value)
  return Number.isFinite(amount) && amount >= 0 ? amount : undefined
}

function toFields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}

/** Errors hold their request: only what came from the provider is read of them. */
function toText(value: unknown): string {
  if (value instanceof Error || value === undefined) return ""
  try {
    return JSON.stringify(value) ?? ""
  } catch {
    return ""
  }
}
