import { systemClock } from "../../../base/clock.ts"
import { addTo, callSafely } from "../../rules/local-bus.ts"

/** Tells listeners that there may be work, now or in a moment. */
export interface WakeUp {
  add(listener: () => void): () => void
  call(): void
  /** No earlier call is put off by it. */
  within(delayMs: number): void
  close(): void
}

export function createWakeUp(): WakeUp {
  const listeners = new Set<() => void>()
  let pending: { readonly atMs: number; readonly cancel: () => void } | undefined
  let isClosed = false

  function call(): void {
    for (const listener of listeners) callSafely(listener)
  }

  return {
    call,
    add: (listener) =>
      addTo(
        listeners,
        () => listener(),
        () => {},
      ),
    within(delayMs) {
      const atMs = systemClock.monotonic() + delayMs
      if (isClosed || (pending && pending.atMs <= atMs)) return
      pending?.cancel()
      const ring = (): void => {
        pending = undefined
        call()
      }
      pending = { atMs, cancel: systemClock.schedule(delayMs, ring, { isBackground: true }) }
    },
    close() {
      isClosed = true
      pending?.cancel()
    },
  }
}
