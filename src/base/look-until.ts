import type { Clock } from "./clock.ts"

/** Describes a wait. Wake-ups say when to look and may be lost; only a look decides. */
export interface Watch<Found> {
  readonly clock: Clock
  /** Looks once. Undefined: not yet. A rejection ends the wait with that error. */
  look(): Promise<Found | undefined>
  /** Called before the first look, so that nothing is missed in between. The returned function ends the subscription. */
  subscribe(wake: () => void): () => void
  /** After this time without a wake-up the next look happens anyway. */
  readonly pollMs: number
  /** Called before a look that follows no wake-up: wake-ups may have been lost since the last look. */
  onPoll?(): void
  /** Default false: a wait alone does not keep the process alive. */
  readonly keepsProcessAlive?: boolean
  /** Absent: no time limit. */
  readonly timeoutMs?: number | undefined
  readonly signals?: readonly (AbortSignal | undefined)[]
}

/**
 * Looks until a look finds something. Undefined once a signal has aborted or the time is over; a caller that needs to
 * know how things stand then looks once more itself. A wake-up that comes during a look leads to another look.
 */
export async function lookUntil<Found>(watch: Watch<Found>): Promise<Found | undefined> {
  const { clock, pollMs, timeoutMs, signals = [], keepsProcessAlive = false } = watch
  if (timeoutMs === 0 || signals.some((signal) => signal?.aborted)) return undefined
  let isOver = false
  let woken = Promise.withResolvers<void>()
  const wake = (): void => woken.resolve()
  const giveUp = (): void => {
    isOver = true
    wake()
  }
  const lookAnyway = (): void => {
    watch.onPoll?.()
    wake()
  }
  const unsubscribe = watch.subscribe(wake)
  const cancelLimit = timeoutMs === undefined ? undefined : clock.schedule(timeoutMs, giveUp)
  for (const signal of signals) signal?.addEventListener("abort", giveUp)
  try {
    while (!isOver) {
      woken = Promise.withResolvers()
      const found = await watch.look()
      if (found !== undefined || isOver) return found
      const cancelPoll = clock.schedule(pollMs, lookAnyway, { isBackground: !keepsProcessAlive })
      await woken.promise
      cancelPoll()
    }
    return undefined
  } finally {
    unsubscribe()
    cancelLimit?.()
    for (const signal of signals) signal?.removeEventListener("abort", giveUp)
  }
}
