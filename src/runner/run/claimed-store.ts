import { isMeanwhileError } from "../../base/error.ts"
import type { Operation, OperationOf } from "../../task/operation.ts"
import type { CommitOptions, TaskStore } from "../../task/store.ts"
import type { Answers } from "../commit/recall-commit.ts"
import { withCommit } from "../commit/with-commit.ts"
import type { ActiveRun } from "./active-run.ts"
import { markLost, requireNotLost } from "./ownership.ts"
import { runAbove } from "./runs-above.ts"
import type { FenceScope, HasActive } from "./scope.ts"

/**
 * The store as a run writes to it through its ports. A write is refused as `stale_claim` once another worker has the run, or
 * the nearest recorded run above it if it is a call in the foreground, whatever this process believes of its lease.
 */
export function toClaimedStore(scope: FenceScope, active: ActiveRun): TaskStore {
  return withCommit(scope.store, (operations, options) => commitFor(scope, active, () => operations, options))
}

/** Commits what a run writes through its ports. The operations are made when they are committed. */
export async function commitFor(
  scope: FenceScope,
  active: ActiveRun,
  toOperations: (recorded: ActiveRun | undefined) => readonly Operation[],
  options?: CommitOptions,
): Promise<Answers> {
  let place = findPlace(scope, active)
  for (; place.promotion; place = findPlace(scope, active)) await place.promotion
  requireNotLost(scope, active)
  return commitUnder(scope, place.recorded, toOperations(place.recorded), options)
}

/**
 * Commits under the claim of the run, if there is one. Contract: nothing was awaited since `findPlace` named the run, and
 * `requireNotLost` was asked.
 */
export async function commitUnder(
  { store }: FenceScope,
  recorded: ActiveRun | undefined,
  operations: readonly Operation[],
  options?: CommitOptions,
): Promise<Answers> {
  const check = toClaimCheck(recorded)
  try {
    const answers: Answers = await store.commit([...check, ...operations], options)
    return answers.slice(check.length)
  } catch (error) {
    if (recorded && isMeanwhileError(error, "stale_claim")) markLost(recorded)
    throw error
  }
}

/** None if no recorded run above is in this process: then no other worker can have the call. */
function toClaimCheck(recorded: ActiveRun | undefined): readonly OperationOf<"claim.check">[] {
  if (recorded?.standing.in !== "background") return []
  const { taskId, run, standing } = recorded
  return [{ op: "claim.check", run: { taskId, run, fence: standing.fence } }]
}

/** Where a call stands among those above it. */
export interface RecordedPlace {
  /** The calls in the foreground, the nearest first. */
  readonly calls: readonly ActiveRun[]
  /** The nearest run in this process that the store knows, or may know. */
  readonly recorded: ActiveRun | undefined
  /** Settles when a record that is being written decides. */
  readonly promotion: Promise<unknown> | null
}

export function findPlace(scope: HasActive, above: ActiveRun | null): RecordedPlace {
  const calls: ActiveRun[] = []
  let run = above ?? undefined
  for (; run && !hasRecord(run); run = runAbove(scope, run)) {
    if (run.standing.in === "promotion") return { calls, recorded: run, promotion: run.standing.written }
    calls.push(run)
  }
  return { calls, recorded: run, promotion: null }
}

export function hasRecord({ standing }: ActiveRun): boolean {
  return standing.in === "background" || standing.in === "lost"
}
