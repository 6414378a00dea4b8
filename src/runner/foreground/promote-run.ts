import { toErrorMessage } from "../../base/error.ts"
import type { FactEvent } from "../../task/event.ts"
import type { TaskDetails } from "../../task/record.ts"
import type { OperationOf } from "../../task/operation.ts"
import { isRefusedForNow } from "../../task/store-refusal.ts"
import { type ActiveRun, ranMs } from "../run/active-run.ts"
import { type Admitted, toDetails } from "../admit/details.ts"
import type { DetailsScope } from "../admit/scope.ts"
import { toSlotKeys, noteCreated } from "../execute/begin-run.ts"
import { finishFollowing, streamOutput } from "../output/deliver-output.ts"
import { takeBegun, writeBelow } from "../run/begun-below.ts"
import { toStepsTaken } from "../run/journal.ts"
import { ensureLease, isLostWithTurn, markLost } from "../run/ownership.ts"
import { runAbove } from "../run/runs-above.ts"
import { abortRun, TAKEN_OVER } from "../run/stop-run.ts"
import { giveBackFacts, takeFacts } from "../run/run-account.ts"
import type { HasEngine, HasLog, HasWritten, SlotScope, StopScope } from "../run/scope.ts"
import { yieldNewSlot } from "../run/yield-slots.ts"

const PROMOTE_AGAIN_MS = 1_000

/**
 * Turns a call in the foreground into a task without touching its work. The call's answer is then the handle.
 *
 * A crash before the commit: there is no task, and the next start ends what the spool folder names. After it: the task
 * was this worker's, and the worker that reclaims it decides. If the record cannot be written, the call stays in the
 * foreground; while the store takes no writes, this is tried again and again.
 */
export async function promoteRun(
  scope: StopScope & SlotScope & DetailsScope & HasEngine,
  active: ActiveRun,
  admitted: Admitted,
): Promise<boolean> {
  if (active.standing.in !== "foreground" || active.control.stop) return false
  const { standing } = active
  const { answer } = standing
  const written = Promise.withResolvers<boolean>()
  active.standing = { in: "promotion", answer, written: written.promise }
  const afterMs = ranMs(active.times, scope.clock)
  const { unsaved } = active.notes
  try {
    active.output.spool?.keep()
    await active.output.spool?.flush()
    await ensureLease(scope)
    const children = await takeBegun(active)
    const details = { ...toDetails(scope, admitted, active.taskId), traceId: active.origin.traceId }
    const create = { ...toCreation(active, admitted, afterMs), children } as const
    // A worker that has lost its lease promotes nothing: the worker that took over would not know of the task. A run above
    // that was claimed under an earlier lease is lost, so the lease here is also that run's.
    const toOperations = (placed: TaskDetails) => {
      const { id: worker } = scope.worker
      const entry = { as: "running", worker, startedAt: scope.clock.now() - afterMs } as const
      return [scope.worker.renewal(), { ...create, details: placed, entry }] as const
    }
    const above = runAbove(scope, active) ?? null
    // The work may end while the store takes no writes: then nobody waits for its record.
    const { task, created } = await writeBelow(scope, above, details, toOperations, { whenAway: "refuse" })
    if (created) {
      active.steps.begun = null
      noteCreated(scope, task)
      active.slots.held = toSlotKeys(task)
      scope.slots.take(active.slots.held)
      yieldNewSlot(scope, active)
      await finishFollowing(scope, active, { isComplete: false })
      const worker = "worker" in task ? task.worker : null
      active.standing = { in: "background", fence: task.fence, worker }
      streamOutput(scope, active)
      // The run above was lost while the answer was under way: whoever has that one takes this one over, too.
      if (isLostWithTurn(scope, active)) markLost(active)
    } else giveUp(scope, active)
    answer({ outcome: "promoted", task, afterMs })
    written.resolve(true)
    return true
  } catch (error) {
    scope.written.heldInputs.delete(active.taskId)
    giveBackFacts(active.notes, unsaved)
    active.standing = standing
    if (isLostWithTurn(scope, active)) abortRun(scope, active, TAKEN_OVER)
    else
      scope.log.warn("a call could not move to the background and stays in the foreground", {
        tool: active.call.tool.name,
        error: toErrorMessage(error),
      })
    written.resolve(false)
    if (isRefusedForNow(error)) promoteSoon(scope, active, admitted)
    return false
  }
}

function promoteSoon(...given: Parameters<typeof promoteRun>): void {
  const [{ clock }] = given
  clock.schedule(PROMOTE_AGAIN_MS, () => void promoteRun(...given), { isBackground: true })
}

/** Gives up a call whose asking step already has a task, from before a crash or from a concurrent call. */
function giveUp(scope: HasLog & HasWritten, active: ActiveRun): void {
  scope.written.heldInputs.delete(active.taskId)
  active.control.processAbort.abort()
  active.output.spool?.discard().catch((error: unknown) => {
    scope.log.warn("a spool folder could not be removed", { task: active.taskId, error: toErrorMessage(error) })
  })
  // The files go once the processes have: from here on nobody else touches them.
  active.output.spool = null
  markLost(active)
}

function toCreation(
  active: ActiveRun,
  { call }: Admitted,
  afterMs: number,
): Omit<OperationOf<"task.create">, "details" | "entry"> {
  const facts: FactEvent[] = [{ type: "task.promoted", afterMs }, ...takeFacts(active.notes)]
  return {
    op: "task.create",
    facts,
    steps: toStepsTaken(active.steps.journal),
    ...(call.askedBy && { askingStepResult: { taskId: active.taskId } }),
  }
}
