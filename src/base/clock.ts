/** Cancels a scheduled callback. Calling it again, or after the callback ran, does nothing. */
export type CancelTimer = () => void

export interface TimerOptions {
  /** A background timer never keeps a process alive that has otherwise ended. */
  readonly isBackground?: boolean
}

/**
 * The only source of time. Wall time is what records carry; monotonic time is what durations are measured by:
 * it never jumps, and it stands still while the machine is suspended.
 */
export interface Clock {
  now(): number
  monotonic(): number
  schedule(delayMs: number, callback: () => void, options?: TimerOptions): CancelTimer
}

/** Timers longer than this overflow to zero in `setTimeout`. */
const LONGEST_TIMER_MS = 2_147_483_647

/** A browser's timer is a number: it has no process to keep alive, and no `unref`. */
type Timer = ReturnType<typeof setTimeout> & { unref?: () => void }

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(delayMs, callback, options) {
    const timer: Timer = setTimeout(callback, Math.min(Math.max(delayMs, 0), LONGEST_TIMER_MS))
    if (options?.isBackground) timer.unref?.()
    return () => clearTimeout(timer)
  },
}
