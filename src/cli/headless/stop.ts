import { followSignals } from "../start/interrupts.ts"
import { formatDuration } from "../format/format.ts"

export type Stop = ReturnType<typeof createStop>

/**
 * Ends a run that nobody watches: by a signal or a time limit. The first signal, or the end of the time, stops; another
 * one does not wait for anything, unless it is a hangup.
 */
export function createStop() {
  const stop = new AbortController()
  const hurry = new AbortController()
  followSignals().onEach((interrupt) => {
    if (stop.signal.aborted && interrupt !== "hangup") hurry.abort()
    stop.abort(new Error("stopped by a signal"))
  })
  let timer: NodeJS.Timeout | undefined
  return {
    signal: stop.signal,
    /** Aborted when nothing is to be waited for any more. */
    hurry: hurry.signal,
    /** Stops after so long, from now on. */
    limit(timeoutMs: number): void {
      const late = new Error(`it took longer than ${formatDuration(timeoutMs)}`)
      timer = setTimeout(() => stop.abort(late), timeoutMs)
    },
    forget: (): void => clearTimeout(timer),
  }
}
