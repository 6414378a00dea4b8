/** The work's result, or the signal's reason once it aborts: whoever does not look at a signal holds nobody. */
export function unlessAborted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  const stop = (): void => reject(signal.reason)
  const release = (): void => signal.removeEventListener("abort", stop)
  work.then(
    (result) => {
      release()
      resolve(result)
    },
    (error: unknown) => {
      release()
      reject(error)
    },
  )
  if (signal.aborted) stop()
  else signal.addEventListener("abort", stop)
  return promise
}
