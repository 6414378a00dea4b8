/**
 * The listener, made harmless: what it throws, or what its promise rejects with, goes to `onFailed`, and nobody waits for it.
 */
export function toHarmless<Given extends readonly unknown[]>(
  listener: (...given: Given) => unknown,
  onFailed: (error: unknown, ...given: Given) => void,
): (...given: Given) => void {
  return (...given) => {
    const fail = (error: unknown): void => onFailed(error, ...given)
    try {
      const told = listener(...given)
      if (isThenable(told)) void Promise.resolve(told).catch(fail)
    } catch (error) {
      fail(error)
    }
  }
}

function isThenable(told: unknown): told is PromiseLike<unknown> {
  return typeof told === "object" && told !== null && "then" in told && typeof told.then === "function"
}
