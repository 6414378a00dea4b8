import { setImmediate as letOthersRun } from "node:timers/promises"
import type { Clock } from "../../base/clock.ts"
import type { ModelDelta, ModelRequest } from "../../plugin/model.ts"

const WORD = /\s*\S+\s*/g
/** So that an answer of thousands of words can be stopped from outside. */
const WORDS_AT_ONCE = 32

export interface Pace {
  /** Between two words; 0: none. */
  readonly paceMs: number
  readonly clock: Clock
}

/** Streams a text word by word. Rejects with the signal's reason when it is aborted. */
export async function speak(
  type: ModelDelta["type"],
  text: string,
  { signal, onDelta }: Pick<ModelRequest, "signal" | "onDelta">,
  { paceMs, clock }: Pace,
): Promise<void> {
  signal.throwIfAborted()
  let spoken = 0
  for (const word of text.match(WORD) ?? []) {
    if (spoken > 0 && paceMs > 0) await pause(paceMs, signal, clock)
    else if (spoken > 0 && spoken % WORDS_AT_ONCE === 0) await letOthersRun()
    signal.throwIfAborted()
    onDelta?.({ type, text: word })
    spoken++
  }
}

async function pause(durationMs: number, signal: AbortSignal, clock: Clock): Promise<void> {
  signal.throwIfAborted()
  const { promise, resolve } = Promise.withResolvers<void>()
  const cancel = clock.schedule(durationMs, resolve)
  const stop = (): void => resolve()
  signal.addEventListener("abort", stop, { once: true })
  await promise
  signal.removeEventListener("abort", stop)
  cancel()
}
