import { setTimeout as wait } from "node:timers/promises"
import { MeanwhileError } from "../../../base/error.ts"

const SHORTEST_WAIT_MS = 20
const LONGEST_WAIT_MS = 2_000

/** How long to go on trying. Real time, whatever clock the engine was given: nobody would advance another meanwhile. */
export interface Patience {
  readonly isOver: () => boolean
  /** Longer every time, and half of it by chance, so that a fleet does not come back in step. */
  pause(): Promise<void>
}

export function createPatience(patienceMs: number, closing: AbortSignal): Patience {
  const startedAt = performance.now()
  let longestMs = SHORTEST_WAIT_MS
  return {
    isOver: () => performance.now() - startedAt >= patienceMs,
    async pause() {
      const pauseMs = longestMs * (0.5 + Math.random() / 2)
      longestMs = Math.min(2 * longestMs, LONGEST_WAIT_MS)
      try {
        await wait(pauseMs, undefined, { signal: closing })
      } catch {
        throw closed()
      }
    },
  }
}

export function closed(): MeanwhileError {
  return new MeanwhileError("closed", "The store was closed. Open it again.")
}
