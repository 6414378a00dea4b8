/** Finds out whether the server is there, when there is reason to doubt it. */
export interface Reachability {
  readonly isAway: boolean
  /** A connection was lost, or nobody has answered for long. */
  doubt(): void
  /** A statement was answered: the server is there, although the next probe may be a second away. */
  answered(): void
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
  let isAway = false
  let isClosed = false
  let current: Look | undefined
  let looking: Promise<void> | undefined

  async function look({ sinceMs, over }: Look): Promise<void> {
    let pauseMs = SHORTEST_PAUSE_MS
    let failures = 0
    while (!over.signal.aborted) {
      const cause = await probe().then(
        () => undefined,
        (error: unknown) => ({ error }),
      )
      if (over.signal.aborted) return
      if (!cause) return comeBack(sinceMs)
      failures += 1
      if (!isAway && performance.now() - sinceMs >= GRACE_MS && failures >= FEWEST_FAILURES) {
        isAway = true
        onAway(cause.error)
      }
      await pause(pauseMs, over.signal)
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
    }
  }

  function comeBack(sinceMs: number): void {
    if (!isAway) return
    isAway = false
    onBack(performance.now() - sinceMs)
  }

  return {
    get isAway() {
      return isAway
    },
    doubt() {
      if (isClosed || looking) return
      current = { sinceMs: performance.now(), over: new AbortController() }
      looking = look(current).finally(() => {
        looking = undefined
      })
    },
    answered() {
      if (!isAway || isClosed || !current) return
      current.over.abort()
      comeBack(current.sinceMs)
    },
    async close() {
      isClosed = true
      current?.over.abort()
      await looking
    },
  }
}

/** Probes, one after the other, until the server answers. */
interface Look {
  /** By the monotonic clock: when the doubt began. */
  readonly sinceMs: number
  readonly over: AbortController
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
