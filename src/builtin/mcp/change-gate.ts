import type { Clock } from "../../base/clock.ts"

/** Lets those who wait look again whenever something has changed. */
export interface ChangeGate {
  announce(): void
  /**
   * The value `look` finds, or null when the time is up. Rejects with the signal's reason; throws what `look` throws.
   */
  wait<Found>(look: () => Found | null, signal: AbortSignal, waitMs: number): Promise<Found | null>
}

export function createChangeGate(clock: Clock): ChangeGate {
  let changed = Promise.withResolvers<void>()
  return {
    announce() {
      changed.resolve()
      changed = Promise.withResolvers()
    },
    async wait(look, signal, waitMs) {
      const over = Promise.withResolvers<void>()
      let isTimeUp = false
      const cancel = Number.isFinite(waitMs)
        ? clock.schedule(waitMs, () => {
            isTimeUp = true
            over.resolve()
          })
        : () => {}
      const onAbort = (): void => over.resolve()
      signal.addEventListener("abort", onAbort)
      try {
        for (;;) {
          signal.throwIfAborted()
          const found = look()
          if (found !== null || isTimeUp) return found
          await Promise.race([changed.promise, over.promise])
        }
      } finally {
        cancel()
        signal.removeEventListener("abort", onAbort)
      }
    },
  }
}
