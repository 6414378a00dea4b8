import { createInterrupts, followSignals } from "../chat/interrupts.ts"
import { formatDuration } from "../format.ts"

/** When a run that nobody watches is over before it has ended. */
export interface Stop {
  readonly signal: AbortSignal
  /** Nothing is waited for any more. */
  readonly hurry: AbortSignal
  forget(): void
}

/** The first signal, or the end of the time, stops; another one does not wait for anything. */
export function createStop(timeoutMs: number | null): Stop {
  const stop = new AbortController()
  const hurry = new AbortController()
  const interrupts = createInterrupts()
  followSignals(interrupts)
  interrupts.onEach(() => {
    if (stop.signal.aborted) hurry.abort()
    stop.abort(new Error("stopped by a signal"))
  })
  const late = new Error(`it took longer than ${formatDuration(timeoutMs ?? 0)}`)
  const timer = timeoutMs === null ? undefined : setTimeout(() => stop.abort(late), timeoutMs)
  return { signal: stop.signal, hurry: hurry.signal, forget: () => clearTimeout(timer) }
}
