import type { Clock } from "../../base/clock.ts"
import type { ScriptedAnswer } from "./script.ts"

/** Waits for the delay, then for the gate. Rejects with the signal's reason as soon as it is aborted. */
export async function waitFor(
  { delayMs = 0, gate }: Pick<ScriptedAnswer, "delayMs" | "gate">,
  signal: AbortSignal,
  clock: Clock,
): Promise<void> {
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const delayed = Promise.withResolvers<void>()
  const abort = (): void => aborted.reject(signal.reason as Error)
  signal.addEventListener("abort", abort, { once: true })
  const cancel = clock.schedule(delayMs, delayed.resolve)
  try {
    if (delayMs > 0) await Promise.race([delayed.promise, aborted.promise])
    if (gate) await Promise.race([gate, aborted.promise])
  } finally {
    cancel()
    signal.removeEventListener("abort", abort)
  }
}
