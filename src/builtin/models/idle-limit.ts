import type { Clock } from "../../base/clock.ts"

export interface IdleLimitOptions {
  readonly clock: Clock
  readonly timeoutMs: number
  readonly toError: () => Error
}

export interface IdleLimit {
  /** Aborts with the error once nothing was heard for the time. */
  readonly signal: AbortSignal
  heard(): void
  close(): void
}

const hearers = new WeakMap<AbortSignal, () => void>()

/** Calls `heard` for every byte that answers a request with this signal, if the request is made by `tapFetch`. */
export function hearAnswers(signal: AbortSignal, heard: () => void): void {
  hearers.set(signal, heard)
}

/**
 * A fetch whose answers are heard as they come in. Some servers say in comments that they are still there, and no SDK passes
 * those on.
 */
export function tapFetch(fetch: typeof globalThis.fetch = (...request) => globalThis.fetch(...request)): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    const heard = init?.signal ? hearers.get(init.signal) : undefined
    if (!heard || !response.body) return response
    heard()
    const tap = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        heard()
        controller.enqueue(chunk)
      },
    })
    return new Response(response.body.pipeThrough(tap), response)
  }
}

/** Gives up on somebody who says nothing for too long. One timer serves however much is heard. */
export function createIdleLimit({ clock, timeoutMs, toError }: IdleLimitOptions): IdleLimit {
  const over = new AbortController()
  let heardMs = clock.monotonic()
  let cancelTimer = clock.schedule(timeoutMs, look)

  function look(): void {
    const leftMs = timeoutMs - (clock.monotonic() - heardMs)
    if (leftMs > 0) cancelTimer = clock.schedule(leftMs, look)
    else over.abort(toError())
  }

  return {
    signal: over.signal,
    heard: () => void (heardMs = clock.monotonic()),
    close: () => cancelTimer(),
  }
}
