import { MeanwhileError } from "../../src/base/error.ts"
import type { ManualClock } from "../../src/base/manual-clock.ts"
import type { Engine } from "../../src/task/engine.ts"
import { interceptCommits } from "./intercept-commits.ts"

export interface StandStill {
  /** The process stands still here and now, for longer than its lease. */
  now(): void
  /** How often the store was asked about the lease since. */
  readonly asked: number
}

/** Stands still on the clock of ours. The store then says that the lease is lost, once, or that it is still the worker's. */
export function createStandStill(
  runtime: { readonly engine: Pick<Engine, "store"> },
  { clock, leaseSeconds, isLost }: { clock: ManualClock; leaseSeconds: number; isLost: boolean },
): StandStill {
  let hasStood = false
  let asked = 0
  interceptCommits(runtime, async (operations, commit) => {
    if (!hasStood || !operations.some(({ op }) => op === "lease.renew")) return commit(operations)
    asked += 1
    if (isLost && asked === 1) throw new MeanwhileError("stale_claim", "Another worker has taken it.")
    return commit(operations)
  })
  return {
    now() {
      hasStood = true
      clock.suspend(leaseSeconds * 1_000)
    },
    get asked() {
      return asked
    },
  }
}
