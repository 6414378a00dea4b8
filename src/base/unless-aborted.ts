/**
 * Resolves with the work's result, or rejects with the signal's reason once it aborts. So work that ignores its signal
 * cannot hold up its caller.
 */
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
