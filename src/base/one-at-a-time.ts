/** Runs work on the same key one piece after the other, in the order of the calls. */
export type OneAtATime = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>

export function createOneAtATime(): OneAtATime {
  const last = new Map<string, Promise<unknown>>()
  return async (key, work) => {
    const before = last.get(key) ?? Promise.resolve()
    const result = before.then(work)
    const settled = result.catch(() => undefined)
    last.set(key, settled)
    try {
      return await result
    } finally {
      if (last.get(key) === settled) last.delete(key)
    }
  }
}
