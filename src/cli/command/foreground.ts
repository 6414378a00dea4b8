/** The commands that run at the prompt now. */
export interface Foreground {
  run<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result>
  /** Stops all of them. False if none runs. */
  abort(): boolean
  /** Offers something that can move to the background, until the returned function takes the offer back. */
  offer(promote: () => Promise<boolean>): () => void
  /** Moves everything that is offered to the background; returns how many moved. */
  promote(): Promise<number>
}

export function createForeground(): Foreground {
  const running = new Set<AbortController>()
  const offered = new Set<() => Promise<boolean>>()
  return {
    async run(work) {
      const stop = new AbortController()
      running.add(stop)
      try {
        return await work(stop.signal)
      } finally {
        running.delete(stop)
      }
    },
    abort() {
      const stopped = [...running]
      running.clear()
      for (const one of stopped) one.abort()
      return stopped.length > 0
    },
    offer(promote) {
      offered.add(promote)
      return () => void offered.delete(promote)
    },
    async promote() {
      const moved = await Promise.all([...offered].map((promote) => promote()))
      return moved.filter((hasMoved) => hasMoved).length
    },
  }
}
