import type { Clock } from "../../base/clock.ts"
import { unlessAborted } from "../../base/unless-aborted.ts"
import type { Act } from "../../plugin/context.ts"
import type { AddressGuard } from "./address-guard.ts"
import { FetchError } from "./fetch-error.ts"
import { type Exchange, type ExchangeOptions, exchange } from "./http-exchange.ts"

export interface FetchPageOptions extends Omit<ExchangeOptions, "addresses"> {
  readonly guard: AddressGuard
  /** Every request begins in it. */
  readonly act: Act
  readonly clock: Clock
  /** The wait before each further try, so that there is one entry for each. */
  readonly retryDelaysMs: readonly number[]
}

export interface FetchedPage extends Exchange {
  /** The address after redirects. */
  readonly url: URL
}

const MOST_REDIRECTS = 5
const LONGEST_RETRY_AFTER_MS = 30_000
const REDIRECTS = new Set([301, 302, 303, 307, 308])
const RETRIED_STATUSES = new Set([408, 425, 429, 500, 502, 503, 504])

/** Follows redirects, each to an address that is checked like the first. */
export async function fetchPage(start: URL, options: FetchPageOptions): Promise<FetchedPage> {
  let url = start
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const answer = await fetchWithRetries(url, options)
    const { location } = answer.headers
    if (!REDIRECTS.has(answer.status) || location === undefined) return { ...answer, url }
    url = toRedirected(url, location)
  }
  throw new FetchError("too_many_redirects", `${start.href} redirects more than ${MOST_REDIRECTS} times.`)
}

function toRedirected(from: URL, location: string): URL {
  const url = URL.parse(location, from.href)
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") {
    const message = `${from.href} redirects to what is no http or https address without a password.`
    throw new FetchError("address_refused", message)
  }
  return url
}

async function fetchWithRetries(url: URL, options: FetchPageOptions): Promise<Exchange> {
  const { guard, clock, retryDelaysMs, signal, act } = options
  for (let tries = 0; ; tries++) {
    try {
      const addresses = await unlessAborted(signal, guard(url))
      return checkStatus(url, await act(() => exchange(url, { ...options, addresses })), clock)
    } catch (error) {
      const delayMs = retryDelaysMs[tries]
      if (!(error instanceof FetchError) || !error.isRetryable || delayMs === undefined) throw error
      const waitMs = Math.max(delayMs, error.retryAfterMs ?? 0)
      if (waitMs > LONGEST_RETRY_AFTER_MS) throw error
      await pause(clock, waitMs, signal)
    }
  }
}

function checkStatus(url: URL, answer: Exchange, clock: Clock): Exchange {
  const { status, headers } = answer
  if (status < 400) return answer
  const retryAfterMs = toRetryAfterMs(headers["retry-after"], clock.now())
  const later = retryAfterMs === undefined ? "" : ` and asks to come back in ${Math.ceil(retryAfterMs / 1000)} s`
  const message = `${url.href} answered with status ${status}${later}.`
  throw new FetchError("http_status", message, { isRetryable: RETRIED_STATUSES.has(status), retryAfterMs })
}

/** The header holds seconds or a date. */
function toRetryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}

function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const cancel = clock.schedule(delayMs, resolve)
  return unlessAborted(signal, promise).finally(cancel)
}
