export interface OutageParts {
  /** The name of the store for people, such as "The store /folder/store.sqlite". */
  readonly store: string
  /** Lines for a person. */
  readonly tell: (line: string) => void
  /** Called when the store is found to refuse writes, and when it takes them again. */
  readonly onAway?: ((isAway: boolean) => void) | undefined
}

/** A refusal that is over sooner is not worth a line. */
const GRACE_MS = 1_000

/**
 * Tells a person once that the store refuses writes for now, and once more when it takes them again. Both engines report
 * refused and accepted writes here, while they try again.
 */
export function createOutage({ store, tell, onAway }: OutageParts) {
  let refusal: { readonly sinceMs: number; readonly timer: NodeJS.Timeout; describe: () => string } | undefined
  let isAway = false

  function declare(): void {
    isAway = true
    onAway?.(true)
    if (refusal) tell(`${refusal.describe()} ${WAITING}`)
  }

  return {
    get isAway(): boolean {
      return isAway
    },
    /** Called at each try that the store refuses. `describe` is called when the person is told. */
    refused(describe: () => string): void {
      if (refusal) refusal.describe = describe
      else refusal = { sinceMs: performance.now(), timer: setTimeout(declare, GRACE_MS).unref(), describe }
    },
    /** Called when the store has taken a write. Costs nothing while no write was refused. */
    accepted(): void {
      if (!refusal) return
      clearTimeout(refusal.timer)
      const { sinceMs } = refusal
      refusal = undefined
      if (!isAway) return
      isAway = false
      onAway?.(false)
      tell(toReturn(store, performance.now() - sinceMs))
    },
    /** Says nothing more. */
    close(): void {
      clearTimeout(refusal?.timer)
      refusal = undefined
    },
  }
}

export const WAITING = "Waiting for it; work that has begun continues once it is back."

/** The line that tells that a store is back. */
export function toReturn(store: string, awayMs: number): string {
  return `${store} is back, after ${Math.round(awayMs / 1_000)} s.`
}
