import { followSignals } from "../start/interrupts.ts"
import { formatDuration } from "../format/format.ts"

/** Ends a run that nobody watches: by a signal or a time limit. */
export interface Stop {
  readonly signal: AbortSignal
  /** Aborted when the run must wait for nothing any more. */
  readonly hurry: AbortSignal
  /** Stops the run after so long from now. */
  limit(timeoutMs: number): void
  forget(): void
}

/** The first signal, or the time limit, stops the run. A later signal ends all waiting, unless it is a hangup. */
export function createStop(): Stop {
  const stop = new AbortController()
  const hurry = new AbortController()
  followSignals().onEach((interrupt) => {
    if (stop.signal.aborted && interrupt !== "hangup") hurry.abort()
    stop.abort(new Error("stopped by a signal"))
  })
  let timer: NodeJS.Timeout | undefined
  return {
    signal: stop.signal,
    hurry: hurry.signal,
    limit(timeoutMs) {
      const late = new Error(`it took longer than ${formatDuration(timeoutMs)}`)
      timer = setTimeout(() => stop.abort(late), timeoutMs)
    },
    forget: () => clearTimeout(timer),
  }
}
