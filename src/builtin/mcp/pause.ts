import { setTimeout as wait } from "node:timers/promises"

/** Rejects with the signal's reason as soon as it is aborted. */
export async function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  try {
    await wait(delayMs, undefined, { signal })
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}
