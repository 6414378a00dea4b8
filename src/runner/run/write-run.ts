import { isMeanwhileError } from "../../base/error.ts"
import type { Answers, Operation, RunReference } from "../../task/operation.ts"
import { isRefusedForNow } from "../../task/store-refusal.ts"
import type { CommitOptions } from "../../task/store.ts"
import type { ActiveRun } from "./active-run.ts"
import { isLost, lostError, markLost, requireClaim } from "./ownership.ts"
import type { FenceScope, HasClock } from "./scope.ts"
import { createStoreRetry } from "./store-retry.ts"

type ToOperations<Operations> = (run: Required<RunReference>) => Operations

/**
 * Writes for a run that the store knows, under its fence. A refusal of the engine is passed on, because the caller decides
 * what is tried again. A call in the foreground has nothing to write yet, and gets undefined. While its promotion is being
 * written this waits, so that no step falls between memory and store.
 */
export function writeUnderFence<const Operations extends readonly Operation[]>(
  scope: FenceScope,
  active: ActiveRun,
  toOperations: ToOperations<Operations>,
  options?: CommitOptions,
): Promise<Answers<Operations> | undefined> {
  return inOrder(active, (earlier) => writeOnce(scope, active, toOperations, { options, earlier }))
}

/**
 * Like `writeUnderFence`, and tries again until the store has taken it, the run is another worker's, or the runner closes:
 * for what the run cannot go on without.
 */
export function writeInAnyCase<const Operations extends readonly Operation[]>(
  scope: FenceScope & HasClock,
  active: ActiveRun,
  toOperations: ToOperations<Operations>,
  options?: CommitOptions,
): Promise<Answers<Operations> | undefined> {
  return inOrder(active, async (earlier) => {
    for (const retry = createStoreRetry(scope); ; await retry.pause()) {
      try {
        return await writeOnce(scope, active, toOperations, { options, earlier })
      } catch (error) {
        if (!isRefusedForNow(error) || retry.isOver()) throw error
      }
    }
  })
}

/** Writes are sent without waiting for those before, and repeated in their order when one of them was refused for now. */
function inOrder<Result>(
  active: ActiveRun,
  write: (earlier: ActiveRun["undecided"]) => Promise<Result>,
): Promise<Result> {
  const earlier = active.undecided
  const writing = write(earlier)
  const fate = writing.then(
    () => earlier,
    async (error: unknown) => (await earlier) ?? (error instanceof Error ? error : new Error(String(error))),
  )
  active.undecided = fate
  void fate.then(() => {
    if (active.undecided === fate) active.undecided = null
  })
  return writing
}

interface WriteOptions {
  readonly options: CommitOptions | undefined
  readonly earlier: ActiveRun["undecided"]
}

async function writeOnce<const Operations extends readonly Operation[]>(
  scope: FenceScope,
  active: ActiveRun,
  toOperations: ToOperations<Operations>,
  { options, earlier }: WriteOptions,
): Promise<Answers<Operations> | undefined> {
  if (active.standing.in === "promotion") await active.standing.written
  if (isLost(active)) throw lostError(active)
  if (active.standing.in !== "background") return undefined
  const { taskId, run, standing } = active
  const operations = toOperations({ taskId, run, fence: standing.fence })
  try {
    return await scope.store.commit(operations, { ...options, waitsForStore: false })
  } catch (error) {
    if (isMeanwhileError(error, "stale_claim")) markLost(active)
    if (!isMeanwhileError(error, "version_conflict")) throw error
    // A worker that took the run over may have changed the same record.
    await requireClaim(scope, active)
    if (!earlier) throw error
  }
  // A write before this one was perhaps not taken yet. Once it is, this one fits.
  const failure = await earlier
  if (failure) throw failure
  return writeOnce(scope, active, toOperations, { options, earlier: null })
}
