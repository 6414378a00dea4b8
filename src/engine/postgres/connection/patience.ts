import { setTimeout as wait } from "node:timers/promises"
import { MeanwhileError } from "../../../base/error.ts"
import { toTrouble } from "./store-error.ts"

const SHORTEST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 2_000
/** The other transaction has committed already, or is about to. */
const LONGEST_CONFLICT_MS = 50
/** A conflict that comes back so often is none between writers of one moment. */
const MOST_CONFLICTS = 12

export type Patience = ReturnType<typeof createPatience>

/**
 * How long to go on trying. Real time, whatever clock the engine was given: nobody would advance another meanwhile.
 * `closing`: nothing is tried again. `gone`: the server is away, and nobody waits for it any more.
 */
export function createPatience(patienceMs: number, closing: AbortSignal, gone?: AbortSignal) {
  const startedAt = performance.now()
  let pauseMs = SHORTEST_PAUSE_MS
  let conflicts = 0

  const isOver = (): boolean => gone?.aborted === true || performance.now() - startedAt >= patienceMs

  async function waitAbout(mostMs: number): Promise<void> {
    const signal = gone ? AbortSignal.any([closing, gone]) : closing
    try {
      await wait(mostMs * (0.5 + Math.random() / 2), undefined, { signal })
    } catch {
      if (closing.aborted) throw closed()
    }
  }

  /** Longer every time, and half of it by chance, so that a fleet does not come back in step. */
  async function pause(): Promise<void> {
    const mostMs = pauseMs
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
    await waitAbout(mostMs)
  }

  return {
    isOver,
    pause,
    /** Waits as long as it is wise after this error, and says whether to try again. */
    async bear(error: unknown): Promise<boolean> {
      const kind = toTrouble(error)?.kind
      if (kind === "conflict" && ++conflicts <= MOST_CONFLICTS)
        await waitAbout(Math.min(2 ** conflicts, LONGEST_CONFLICT_MS))
      else if (kind === "lost" && !isOver()) await pause()
      else return false
      return true
    },
  }
}

export function closed(): MeanwhileError {
  return new MeanwhileError("closed", "The store was closed. Open it again.")
}
