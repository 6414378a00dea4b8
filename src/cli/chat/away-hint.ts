import type { Screen } from "../screen/screen.ts"

const HINT_AFTER_MS = 1_000
const HINT = "(the store does not answer; it is tried again and again, and this goes on when it is back)"

export interface AwayHintScope {
  readonly screen: Screen
  readonly isStoreAway: () => boolean
}

/** Says why nothing happens when a line is not done with soon while the store is away. Disposed of when it is done. */
export function createAwayHint({ screen, isStoreAway }: AwayHintScope): Disposable {
  const hint = (): void => {
    if (isStoreAway()) screen.print(screen.style.dim(HINT))
  }
  return setTimeout(hint, HINT_AFTER_MS)
}
