/** The commands that run at the prompt now. */
export interface Foreground {
  run<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result>
  /** Stops them all. False when none runs. */
  abort(): boolean
}

export function createForeground(): Foreground {
  const running = new Set<AbortController>()
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
  }
}
