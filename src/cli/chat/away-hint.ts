import type { Screen } from "../screen/screen.ts"

const HINT_AFTER_MS = 1_000
const HINT = "(the store does not answer; it is tried again and again, and this goes on when it is back)"
const COMMAND_HINT = "(the store is away; what a command has asked of it is done when it is back)"
const STOP_HINT = "(stopped; the store is away, and hears of it when it is back)"

export interface AwayHintScope {
  readonly screen: Screen
  readonly isStoreAway: () => boolean
}

/** Tells a person who waits for the effect of a line that the store is away. Dispose of the hint when the line is done. */
export function createAwayHint(scope: AwayHintScope): Disposable {
  return setTimeout(() => tellIfAway(scope, HINT), HINT_AFTER_MS)
}

/**
 * Says that a stop was heard, and takes a while because the store is away. If the store is known to be away, says so at
 * once: a person who sees nothing presses Ctrl+C again, which leaves the chat.
 */
export function hintAtStop(scope: AwayHintScope, stopped: Promise<unknown>, hint = STOP_HINT): void {
  const timer = setTimeout(() => tellIfAway(scope, hint), scope.isStoreAway() ? 0 : HINT_AFTER_MS)
  void stopped.finally(() => clearTimeout(timer))
}

/** As `hintAtStop`, for a command after a slash: once the store was asked, nothing takes the command back. */
export function hintAtCommandStop(scope: AwayHintScope, signal: AbortSignal, done: Promise<unknown>): void {
  signal.addEventListener("abort", () => hintAtStop(scope, done, COMMAND_HINT), { once: true })
}

function tellIfAway({ screen, isStoreAway }: AwayHintScope, hint: string): void {
  if (isStoreAway()) screen.print(screen.style.dim(hint))
}
