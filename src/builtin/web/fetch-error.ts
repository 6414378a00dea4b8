interface FetchErrorOptions extends ErrorOptions {
  readonly isRetryable?: boolean
  readonly retryAfterMs?: number | undefined
}

/** Why a page could not be fetched. Its message is for the model and holds nothing but addresses and statuses. */
export class FetchError extends Error {
  override readonly name = "FetchError"
  readonly code: FetchErrorCode
  readonly isRetryable: boolean
  /** How long the server asks to wait before the next try. */
  readonly retryAfterMs: number | undefined

  constructor(code: FetchErrorCode, message: string, options: FetchErrorOptions = {}) {
    const { isRetryable = false, retryAfterMs, cause } = options
    super(message, { cause })
    this.code = code
    this.isRetryable = isRetryable
    this.retryAfterMs = retryAfterMs
  }
}

type FetchErrorCode =
  | "address_refused"
  | "host_unknown"
  | "connection_failed"
  | "too_slow"
  | "too_many_redirects"
  | "http_status"
  | "unsupported_type"
  | "unreadable_body"
