import { createManualClock, type ManualClock } from "../../../src/base/manual-clock.ts"
import type { Engine } from "../../../src/task/engine.ts"
import { isPostgres, openStore } from "../test-engine.ts"

/** One store for many plays, one after the other. */
export interface FaultHouse extends AsyncDisposable {
  readonly directory: string
  readonly clock: ManualClock
  readonly engine: Engine
  /** Opens the store anew, as after a restart. A server goes on: only its clients come and go. */
  reopen(): Promise<void>
}

/** Longer than anything is waited for, and than any lease: what a play leaves is over at the next one. */
const BETWEEN_PLAYS_MS = 600_000

export async function openFaultHouse(directory: string): Promise<FaultHouse> {
  const clock = createManualClock()
  let engine = await openStore(directory, { clock })
  return {
    directory,
    clock,
    get engine() {
      return engine
    },
    async reopen() {
      clock.advance(BETWEEN_PLAYS_MS)
      if (isPostgres) return
      await engine.close()
      engine = await openStore(directory, { clock })
    },
    [Symbol.asyncDispose]: () => engine.close(),
  }
}
