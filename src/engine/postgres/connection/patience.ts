import { setTimeout as wait } from "node:timers/promises"
import { MeanwhileError } from "../../../base/error.ts"
import { toTrouble } from "./store-error.ts"

const SHORTEST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 2_000
/** After a conflict the other transaction has committed already, or is about to. */
const LONGEST_CONFLICT_MS = 50
/** A conflict that comes back this often is not one between writers of one moment. */
const MOST_CONFLICTS = 12

export type Patience = ReturnType<typeof createPatience>

/**
 * Decides how long to go on trying. Measures real time, whatever clock the engine was given: nobody advances a manual
 * clock meanwhile. `closing`: nothing is tried again. `gone`: the server is away and not waited for any more.
 * `isRefused` tells that of the caller.
 */
export function createPatience(patienceMs: number, closing: AbortSignal, gone?: AbortSignal, isRefused = () => false) {
  const startedAt = performance.now()
  let pauseMs = SHORTEST_PAUSE_MS
  let conflicts = 0

  const isOver = (): boolean => gone?.aborted === true || isRefused() || performance.now() - startedAt >= patienceMs

  async function waitAbout(mostMs: number): Promise<void> {
    const signal = gone ? AbortSignal.any([closing, gone]) : closing
    try {
      await wait(mostMs * (0.5 + Math.random() / 2), undefined, { signal })
    } catch {
      if (closing.aborted) throw closed()
    }
  }

  /** Waits longer every time, with jitter of up to half, so that many processes do not come back in step. */
  async function pause(): Promise<void> {
    const mostMs = pauseMs
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
    await waitAbout(mostMs)
  }

  return {
    isOver,
    pause,
    /** Waits as long as this error calls for. True: try again. */
    async waitToRetry(error: unknown): Promise<boolean> {
      const kind = toTrouble(error)?.kind
      if (kind === "conflict" && ++conflicts <= MOST_CONFLICTS)
        await waitAbout(Math.min(2 ** conflicts, LONGEST_CONFLICT_MS))
      else if ((kind === "lost" || kind === "unwritable") && !isOver()) await pause()
      else return false
      return true
    },
  }
}

export function closed(): MeanwhileError {
  return new MeanwhileError("closed", "The store was closed. Open it again.")
}
