import { systemClock } from "../../../base/clock.ts"

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
    add(listener) {
      const own = () => listener()
      listeners.add(own)
      return () => void listeners.delete(own)
    },
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

/** The error surfaces as an uncaught one, where mistakes belong, and not with whoever had news. */
function callSafely(listener: () => void): void {
  try {
    listener()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
