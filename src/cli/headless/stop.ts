import { type CancelTimer, systemClock } from "../../base/clock.ts"
import { followSignals } from "../start/interrupts.ts"
import { formatDuration } from "../format/format.ts"

/** Ends a run that nobody watches: by a signal or a time limit. */
export interface Stop {
  readonly signal: AbortSignal
  /** Aborted when the run must wait for nothing any more. */
  readonly hurry: AbortSignal
  /** True if only the terminal or the reader is gone: nobody asked the work to end. */
  isHangup(): boolean
  /** Stops the run after so long from now. */
  limit(timeoutMs: number): void
  forget(): void
}

/** The first signal, or the time limit, stops the run. A later signal ends all waiting, unless it is a hangup. */
export function createStop(): Stop {
  const stop = new AbortController()
  const hurry = new AbortController()
  let isHangup = false
  followSignals().onEach((interrupt) => {
    isHangup = interrupt === "hangup" && (isHangup || !stop.signal.aborted)
    if (stop.signal.aborted && interrupt !== "hangup") hurry.abort()
    stop.abort(new Error("stopped by a signal"))
  })
  let cancelTimer: CancelTimer | undefined
  return {
    signal: stop.signal,
    hurry: hurry.signal,
    isHangup: () => isHangup,
    limit(timeoutMs) {
      const late = new Error(`it took longer than ${formatDuration(timeoutMs)}`)
      cancelTimer = systemClock.schedule(timeoutMs, () => stop.abort(late))
    },
    forget: () => cancelTimer?.(),
  }
}
