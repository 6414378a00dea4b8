import { isMeanwhileError, MeanwhileError } from "../../base/error.ts"
import type { Answers, Operation, RunReference } from "../../task/operation.ts"
import type { CommitOptions } from "../../task/store.ts"
import { sleep } from "../../base/sleep.ts"
import type { ActiveRun } from "./active-run.ts"
import type { FenceScope, HasWorker, HasActive, HasClock } from "./scope.ts"

/**
 * Directly before an effect: is this run still ours? A young lease answers at once; an old one asks the store. Fencing
 * refuses writes, not effects, so the moment between this check and the effect is what `idempotencyKey` is for.
 */
export async function requireOwned(scope: HasWorker, active: ActiveRun): Promise<void> {
  if (isInDoubt(scope, active)) await scope.worker.confirm()
  active.control.abort.signal.throwIfAborted()
  if (isLost(active)) throw lostError(active)
}

/** Like `requireOwned`, for actions that are allowed while the run is being stopped. */
export async function requireClaim(scope: HasWorker, active: ActiveRun): Promise<void> {
  if (!(await confirmOwned(scope, active))) throw lostError(active)
}

export async function confirmOwned(scope: HasWorker, active: ActiveRun): Promise<boolean> {
  if (isInDoubt(scope, active)) await scope.worker.confirm()
  return !isLost(active)
}

function isInDoubt({ worker }: HasWorker, { standing }: ActiveRun): boolean {
  return standing.in === "background" && !worker.isFresh()
}

/**
 * Writes for a run that the store knows, under its fence. A call in the foreground has nothing to write yet, and gets
 * undefined. While its promotion is being written this waits, so that no step falls between memory and store.
 */
export async function writeUnderFence<const Operations extends readonly Operation[]>(
  scope: FenceScope,
  active: ActiveRun,
  toOperations: (run: Required<RunReference>) => Operations,
  options?: CommitOptions,
): Promise<Answers<Operations> | undefined> {
  if (active.standing.in === "promotion") await active.standing.written
  if (isLost(active)) throw lostError(active)
  if (active.standing.in !== "background") return undefined
  const { taskId, run, standing } = active
  try {
    return await scope.store.commit(toOperations({ taskId, run, fence: standing.fence }), options)
  } catch (error) {
    if (isMeanwhileError(error, "stale_claim")) markLost(active)
    // A worker that took the run over may have changed the same record.
    if (isMeanwhileError(error, "version_conflict")) await requireClaim(scope, active)
    throw error
  }
}

/**
 * Another worker now decides about the run. This process leaves the run's processes and files alone until the store says
 * what was decided.
 */
export function markLost(active: ActiveRun): void {
  if (isLost(active)) return
  active.standing = toLost(active)
  const { output, control } = active
  output.stream?.stop()
  output.spool?.abandon()
  control.abort.abort(lostError(active))
  control.abandoned.resolve(undefined)
}

/** Lets a run go on without this process: its processes live, and the next start adopts them. */
export function detachRun(active: ActiveRun): void {
  active.standing = toLost(active)
  active.output.stream?.stop()
  active.control.abandoned.resolve(undefined)
}

export function isLost(active: ActiveRun): boolean {
  return active.standing.in === "lost"
}

function toLost({ standing }: ActiveRun): ActiveRun["standing"] {
  return { in: "lost", fence: "fence" in standing ? standing.fence : null }
}

function lostError({ taskId }: ActiveRun): MeanwhileError {
  const message = `This process was silent for longer than its lease: another worker has taken over task ${taskId}.`
  return new MeanwhileError("stale_claim", message, { taskId })
}

const FIRST_RETRY_MS = 50
const LONGEST_RETRY_MS = 5_000
/** A closing runner does not wait longer for a store that refuses: the next start takes over what is left. */
const LONGEST_CLOSING_RETRY_MS = 500

export type StoreRetry = ReturnType<typeof createStoreRetry>

/** The pauses of a write that is repeated until the store takes it. */
export function createStoreRetry(scope: HasClock & HasActive) {
  let retryMs = FIRST_RETRY_MS
  return {
    /** True if the runner closes and has waited long enough. */
    isOver: (): boolean => scope.active.isClosing && retryMs > LONGEST_CLOSING_RETRY_MS,
    /** Waits longer each time. */
    async pause(): Promise<void> {
      await sleep(scope.clock, retryMs)
      retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS)
    },
  }
}
