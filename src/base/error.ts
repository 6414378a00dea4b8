import type { JsonObject } from "./json.ts"

/** The closed set of reasons for which a call is refused. A failed task is data, not one of these errors. */
export const ERROR_CODES = [
  "invalid_input",
  "unknown_tool",
  "not_background_capable",
  "not_found",
  "ambiguous_id",
  "wrong_state",
  "session_busy",
  "expired",
  "stale_claim",
  "version_conflict",
  "lease_held",
  "permission_denied",
  "limit_exceeded",
  "secret_not_kept",
  "plugin_unavailable",
  "unknown_model",
  "key_missing",
  "key_refused",
  "rate_limited",
  "model_unavailable",
  "model_refused",
  "context_overflow",
  "output_invalid",
  "store_damaged",
  "store_newer",
  "store_read_only",
  "store_unavailable",
  "store_gone",
  "disk_full",
  "closed",
] as const

export type ErrorCode = (typeof ERROR_CODES)[number]

/** Every refusal of Meanwhile. The message names the cause and, after it, what to do. */
export class MeanwhileError extends Error {
  override readonly name = "MeanwhileError"
  readonly code: ErrorCode
  readonly details: JsonObject

  constructor(code: ErrorCode, message: string, details: JsonObject = {}, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.details = details
  }
}

export function isMeanwhileError(error: unknown, code?: ErrorCode): error is MeanwhileError {
  return error instanceof MeanwhileError && (code === undefined || error.code === code)
}

/** Never throws itself: what was thrown may be any value, with a message that cannot be read. */
export function toErrorMessage(error: unknown): string {
  try {
    if (typeof error !== "object" || error === null) return String(error)
    const message = "message" in error ? error.message : undefined
    return typeof message === "string" ? message : "an error without a message was thrown"
  } catch {
    return "an error was thrown whose message cannot be read"
  }
}
