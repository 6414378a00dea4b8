/** Cancels a scheduled callback. Calling it again, or after the callback ran, does nothing. */
export type CancelTimer = () => void

export interface TimerOptions {
  /** A background timer never keeps a process alive that has otherwise ended. */
  readonly isBackground?: boolean
}

/**
 * The only source of time. Records carry wall time. Durations are measured by monotonic time, which never jumps and
 * stands still while the machine is suspended.
 */
export interface Clock {
  now(): number
  monotonic(): number
  schedule(delayMs: number, callback: () => void, options?: TimerOptions): CancelTimer
}

/** `setTimeout` with a longer delay fires at once, so a longer time is split over several timers. */
const LONGEST_TIMER_MS = 2_147_483_647

/** In a browser a timer is a number, which has no `unref`. */
type Timer = ReturnType<typeof setTimeout> & { unref?: () => void }

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(delayMs, callback, options) {
    let leftMs = Math.max(delayMs, 0)
    let timer: Timer
    function wait(): void {
      const stretchMs = Math.min(leftMs, LONGEST_TIMER_MS)
      leftMs -= stretchMs
      timer = setTimeout(leftMs > 0 ? wait : callback, stretchMs)
      if (options?.isBackground) timer.unref?.()
    }
    wait()
    return () => clearTimeout(timer)
  },
}

/** A clock for code that works on a store: timestamps use the store's time, durations the process's own. */
export function createStoreClock(store: Pick<Clock, "now">, own: Clock = systemClock): Clock {
  return {
    now: () => store.now(),
    monotonic: () => own.monotonic(),
    schedule: (delayMs, callback, options) => own.schedule(delayMs, callback, options),
  }
}
