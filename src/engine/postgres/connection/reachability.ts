/** Finds out whether the server is there, when there is reason to doubt it. */
export interface Reachability {
  readonly isAway: boolean
  /** A connection was lost, or nobody has answered for long. */
  doubt(): void
  /** Resolves once nothing is tried any more. */
  close(): Promise<void>
}

export interface ReachabilityParts {
  /** Asks the server something, within moments. */
  probe(): Promise<void>
  /** It could not be reached for longer than a lost connection takes to be made again. */
  onAway(cause: unknown): void
  onBack(awayMs: number): void
}

const GRACE_MS = 1_000
/** One that is late may be so because this process, or the machine, was busy. */
const FEWEST_FAILURES = 2
const SHORTEST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 1_000

export function createReachability({ probe, onAway, onBack }: ReachabilityParts): Reachability {
  const closing = new AbortController()
  let isAway = false
  let looking: Promise<void> | undefined

  async function look(): Promise<void> {
    const doubtedAtMs = performance.now()
    let pauseMs = SHORTEST_PAUSE_MS
    let failures = 0
    while (!closing.signal.aborted) {
      const cause = await probe().then(
        () => undefined,
        (error: unknown) => ({ error }),
      )
      if (closing.signal.aborted) return
      const doubtedMs = performance.now() - doubtedAtMs
      if (!cause) {
        if (isAway) onBack(doubtedMs)
        isAway = false
        return
      }
      failures += 1
      if (!isAway && doubtedMs >= GRACE_MS && failures >= FEWEST_FAILURES) {
        isAway = true
        onAway(cause.error)
      }
      await pause(pauseMs, closing.signal)
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
    }
  }

  return {
    get isAway() {
      return isAway
    },
    doubt() {
      if (closing.signal.aborted) return
      looking ??= look().finally(() => {
        looking = undefined
      })
    },
    async close() {
      closing.abort()
      await looking
    },
  }
}

/** Half of it by chance, so that a fleet does not come back in step. No process stays for it. */
function pause(mostMs: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = (): void => resolve()
  const timer = setTimeout(stop, mostMs * (0.5 + Math.random() / 2)).unref()
  signal.addEventListener("abort", stop, { once: true })
  return promise.finally(() => {
    clearTimeout(timer)
    signal.removeEventListener("abort", stop)
  })
}
