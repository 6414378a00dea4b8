import type { Screen } from "../screen/screen.ts"

const HINT_AFTER_MS = 1_000
const HINT = "(the store does not answer; it is tried again and again, and this goes on when it is back)"
const STOP_HINT = "(stopped; the store is away, and hears of it when it is back)"

export interface AwayHintScope {
  readonly screen: Screen
  readonly isStoreAway: () => boolean
}

/** Says why nothing happens when a line is not done with soon while the store is away. Disposed of when it is done. */
export function createAwayHint(scope: AwayHintScope): Disposable {
  return setTimeout(() => tellIfAway(scope, HINT), HINT_AFTER_MS)
}

/**
 * Says that a stop was heard which is not done with soon, because the store is away: at once, for whoever sees nothing
 * presses Ctrl+C again, which leaves.
 */
export function hintAtStop(scope: AwayHintScope, stopped: Promise<unknown>): void {
  const timer = setTimeout(() => tellIfAway(scope, STOP_HINT), scope.isStoreAway() ? 0 : HINT_AFTER_MS)
  void stopped.finally(() => clearTimeout(timer))
}

function tellIfAway({ screen, isStoreAway }: AwayHintScope, hint: string): void {
  if (isStoreAway()) screen.print(screen.style.dim(hint))
}
