interface ReachabilityParts {
  /** Asks the server something. Rejects if it does not answer within moments. */
  probe(): Promise<void>
  /** Called when the server could not be reached for longer than it takes to replace a lost connection. */
  onAway(cause: unknown): void
  onBack(awayMs: number): void
}

const GRACE_MS = 1_000
/** A single probe may fail because this process, or the machine, was busy. */
const FEWEST_FAILURES = 2
const SHORTEST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 1_000

/** Finds out whether the server can be reached, when there is reason to doubt it. */
export function createReachability({ probe, onAway, onBack }: ReachabilityParts) {
  const closing = new AbortController()
  const looks = new Set<Promise<void>>()
  let isAway = false
  let current: Look | undefined

  async function run({ sinceMs, confirmed }: Look): Promise<void> {
    const signal = AbortSignal.any([closing.signal, confirmed.signal])
    let pauseMs = SHORTEST_PAUSE_MS
    let failures = 0
    while (!signal.aborted) {
      const cause = await probe().then(
        () => undefined,
        (error: unknown) => ({ error }),
      )
      if (signal.aborted) return
      if (!cause) return tellBack(sinceMs)
      failures += 1
      if (!isAway && performance.now() - sinceMs >= GRACE_MS && failures >= FEWEST_FAILURES) {
        isAway = true
        onAway(cause.error)
      }
      await pause(pauseMs, signal)
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
    }
  }

  function tellBack(sinceMs: number): void {
    if (!isAway) return
    isAway = false
    onBack(performance.now() - sinceMs)
  }

  return {
    get isAway(): boolean {
      return isAway
    },
    /** Called when a connection was lost, or the server has not answered for long. */
    doubt(): void {
      if (closing.signal.aborted || current) return
      const look = { sinceMs: performance.now(), confirmed: new AbortController() }
      current = look
      const looking = run(look).finally(() => {
        looks.delete(looking)
        if (current === look) current = undefined
      })
      looks.add(looking)
    },
    /**
     * Called when a new connection was made and takes writes: the server is back, although the next probe may be a
     * second away. A statement on an old connection proves less, because the server may let nobody else in, or be
     * read-only.
     */
    confirm(): void {
      const look = current
      if (!look || !isAway) return
      // A doubt from now on begins a new look, even if the last probe of this one has not ended.
      current = undefined
      look.confirmed.abort()
      tellBack(look.sinceMs)
    },
    /** Resolves once no probe is under way any more. */
    async close(): Promise<void> {
      closing.abort()
      await Promise.all(looks)
    },
  }
}

/** Probes one after the other, until one is answered or the server's return is confirmed. */
interface Look {
  /** When the doubt began, by the monotonic clock. */
  readonly sinceMs: number
  readonly confirmed: AbortController
}

/** Waits with jitter of up to half, so that many processes do not come back in step. Does not keep the process alive. */
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
