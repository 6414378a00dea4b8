/** Resolves once the signal has aborted. */
export function whenAborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  if (signal.aborted) resolve()
  signal.addEventListener("abort", () => resolve(), { once: true })
  return promise
}
