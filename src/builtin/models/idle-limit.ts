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
