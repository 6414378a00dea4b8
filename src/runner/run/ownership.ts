import { MeanwhileError } from "../../base/error.ts"
import type { Act } from "../../plugin/context.ts"
import type { ActiveRun } from "./active-run.ts"
import { runAbove, runsAbove } from "./runs-above.ts"
import type { HasWorker, HasActive } from "./scope.ts"

/** Looks at leases. */
export interface ActScope extends HasWorker, HasActive {}

/** The `act` of one run. */
export function toAct(scope: ActScope, active: ActiveRun): Act {
  return (effect) => act(scope, active, effect)
}

/**
 * Begins an effect of a run that is still ours. A young lease answers at once; an old one is renewed first, and looked at
 * again. Nothing may be awaited between the look and the call of `effect`: wherever this process waits, or blocks in the
 * kernel, it may stand still past its lease. Fencing refuses writes, not effects, so the moment between the look and the
 * effect is what `idempotencyKey` is for.
 */
export function act<Result>(
  scope: ActScope,
  active: ActiveRun,
  effect: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    // Each effect comes by here: without a doubt there is nothing to wait for.
    if (isOurs(scope, active)) return Promise.resolve(effect())
  } catch (error) {
    return Promise.reject(error instanceof Error ? error : new Error(String(error)))
  }
  return actOnceConfirmed(scope, active, effect)
}

/** True if an effect may begin now, in the same synchronous stretch. False: only `act` can tell, or it refuses. */
export function mayAct(scope: ActScope, active: ActiveRun): boolean {
  try {
    return isOurs(scope, active)
  } catch {
    return false
  }
}

async function actOnceConfirmed<Result>(
  scope: ActScope,
  active: ActiveRun,
  effect: () => Result | Promise<Result>,
): Promise<Result> {
  do {
    if (active.standing.in === "promotion") await active.standing.written
    await scope.worker.confirm()
  } while (!isOurs(scope, active))
  return await effect()
}

/** False: only a renewal of the lease can tell. Throws if the run is lost or stopped. */
function isOurs(scope: ActScope, active: ActiveRun): boolean {
  requireNotLost(scope, active)
  active.control.abort.signal.throwIfAborted()
  return !isInDoubt(scope, active)
}

/**
 * For use before a record is written as running here: under a lost lease, others would take it for left behind. If the
 * store does not answer, the write that follows says so.
 */
export async function ensureLease({ worker }: HasWorker): Promise<void> {
  if (!worker.isFresh()) await worker.confirm().catch(() => false)
}

/** Like `act` without an effect, for actions that are allowed while the run is being stopped. */
export async function requireClaim(scope: ActScope, active: ActiveRun): Promise<void> {
  if (!(await confirmOwned(scope, active))) throw lostError(active)
}

export async function confirmOwned(scope: ActScope, active: ActiveRun): Promise<boolean> {
  if (isInDoubt(scope, active)) await scope.worker.confirm()
  return !isLostWithTurn(scope, active)
}

/** Throws if the run was lost, or one above it with the call that the run is. */
export function requireNotLost(scope: ActScope, active: ActiveRun): void {
  for (let run: ActiveRun | undefined = active; run; run = runAbove(scope, run)) {
    loseIfClaimedBefore(scope, run)
    if (isLost(run)) throw lostError(run)
  }
}

/** A call in the foreground is lost with the run that made it: the worker that has that run now makes the call again. */
export function isLostWithTurn(scope: HasActive, active: ActiveRun): boolean {
  return runsAbove(scope, active).some(isLost)
}

/**
 * True if others go on with the run, or make the call again: at a shutdown, and once the run is lost. What it began is
 * then theirs to stop.
 */
export function isLeftBehind(scope: HasActive, active: ActiveRun): boolean {
  const { isHandedBack, stop } = active.control
  return isHandedBack || stop?.by === "shutdown" || isLostWithTurn(scope, active)
}

/** A call in the foreground belongs to whoever has the turn that made it. Without one, nobody can take it over. */
export function isInDoubt({ worker, active: known }: ActScope, active: ActiveRun): boolean {
  if (worker.isFresh()) return false
  return runsAbove({ active: known }, active).some(({ standing }) => CLAIMED.has(standing.in))
}

const CLAIMED: ReadonlySet<ActiveRun["standing"]["in"]> = new Set(["background", "promotion"])

/** The answer to a claim may arrive after the worker has lost the lease of that claim, and has taken another. */
function loseIfClaimedBefore({ worker }: HasWorker, active: ActiveRun): void {
  if (active.standing.in === "background" && active.standing.worker !== worker.id) markLost(active)
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

export function lostError({ taskId }: ActiveRun): MeanwhileError {
  const message = `This process was silent for longer than its lease: another worker has taken over task ${taskId}.`
  return new MeanwhileError("stale_claim", message, { taskId })
}
