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

/** After a write was given up, the outage counts as over once no write was refused for this long. */
const STEADY_MS = 60_000

/** One write, or the line of all writes of a store that takes them one after the other. */
export interface OutageWrite extends Disposable {
  /** Called at each try that the store refuses. `describe` is called when the person is told. */
  refused(describe: () => string): void
  /** Called when the store has taken the write. Costs nothing while no write was refused. */
  accepted(): void
  /** Called when the write was refused and is not tried again. */
  gaveUp(): void
}

/**
 * Tells a person once that the store refuses writes for now, and once more when it takes them again. Both engines report
 * refused and accepted writes here, while they try again. A disk that has no room for one write may take a smaller one:
 * so the outage goes on while any write waits that was refused, and once one was given up, the next one that is accepted
 * does not end the outage for the person yet.
 */
export function createOutage({ store, tell, onAway }: OutageParts) {
  let refusal: { readonly timer: NodeJS.Timeout; describe: () => string } | undefined
  let isAway = false
  /** What the person was told, or will be. Null: nothing that is not over. */
  let told: { readonly sinceMs: number; isGivenUp: boolean; hasBegun: boolean } | null = null
  let returning: NodeJS.Timeout | undefined
  const waiting = new Set<OutageWrite>()

  function declare(): void {
    isAway = true
    onAway?.(true)
    if (!refusal || !told || told.hasBegun) return
    told.hasBegun = true
    tell(`${refusal.describe()} ${WAITING}`)
  }

  function tellReturn(sinceMs: number, untilMs: number): void {
    told = null
    tell(toReturn(store, untilMs - sinceMs))
  }

  function refuse(describe: () => string): void {
    clearTimeout(returning)
    told ??= { sinceMs: performance.now(), isGivenUp: false, hasBegun: false }
    if (refusal) refusal.describe = describe
    else refusal = { timer: setTimeout(declare, GRACE_MS).unref(), describe }
  }

  function accept(): void {
    if (!refusal || waiting.size > 0) return
    clearTimeout(refusal.timer)
    refusal = undefined
    const untilMs = performance.now()
    if (isAway) onAway?.(false)
    isAway = false
    if (!told?.hasBegun) {
      told = null
      return
    }
    const { sinceMs, isGivenUp } = told
    if (isGivenUp) returning = setTimeout(tellReturn, STEADY_MS, sinceMs, untilMs).unref()
    else tellReturn(sinceMs, untilMs)
  }

  return {
    get isAway(): boolean {
      return isAway
    },
    /** True from the line that tells of the outage until the one that tells of its end. */
    get isTold(): boolean {
      return told?.hasBegun === true
    },
    beginWrite(): OutageWrite {
      const write: OutageWrite = {
        refused(describe) {
          waiting.add(write)
          refuse(describe)
        },
        accepted() {
          waiting.delete(write)
          accept()
        },
        gaveUp() {
          waiting.delete(write)
          if (told) told.isGivenUp = true
        },
        [Symbol.dispose]: () => void waiting.delete(write),
      }
      return write
    },
    /** Says nothing more. */
    close(): void {
      clearTimeout(refusal?.timer)
      clearTimeout(returning)
      refusal = undefined
    },
  }
}

export const WAITING = "Waiting for it; work that has begun continues once it is back."

/** The line that tells that a store is back. */
export function toReturn(store: string, awayMs: number): string {
  return `${store} is back, after ${Math.round(awayMs / 1_000)} s.`
}
