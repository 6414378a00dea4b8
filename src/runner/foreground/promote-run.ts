import { toErrorMessage } from "../../base/error.ts"
import type { FactEvent } from "../../task/event.ts"
import type { OperationOf } from "../../task/operation.ts"
import { isRefusedForNow } from "../../task/store-refusal.ts"
import { type ActiveRun, ranMs } from "../run/active-run.ts"
import { type Admitted, toDetails } from "../admit/details.ts"
import type { DetailsScope } from "../admit/scope.ts"
import { toSlotKeys, noteCreated } from "../execute/begin-run.ts"
import { finishFollowing, streamOutput } from "../output/deliver-output.ts"
import { takeBegun, writeBelow } from "../run/begun-below.ts"
import { toStepsTaken } from "../run/journal.ts"
import { ensureLease, markLost } from "../run/ownership.ts"
import { giveBackFacts, takeFacts } from "../run/run-account.ts"
import type { HasClock, HasEngine, HasLog, HasWritten, SlotScope, StopScope } from "../run/scope.ts"
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
    const create = toCreation(scope, active, admitted, afterMs)
    const { id: worker } = scope.worker
    // A worker that has lost its lease promotes nothing: the worker that took over would not know of the task.
    const { task, created } = await writeBelow(scope, create.details, async (details) => {
      const operations = [scope.worker.renewal(), { ...create, details, children }] as const
      // The work may end while the store takes no writes: then nobody waits for its record.
      const [, written] = await scope.store.commit(operations, { whenAway: "refuse" })
      return written
    })
    if (created) {
      active.steps.begun = null
      noteCreated(scope, task)
      active.slots.held = toSlotKeys(task)
      scope.slots.take(active.slots.held)
      yieldNewSlot(scope, active)
      await finishFollowing(scope, active, { isComplete: false })
      active.standing = { in: "background", fence: task.fence, worker }
      streamOutput(scope, active)
    } else giveUp(scope, active)
    answer({ outcome: "promoted", task, afterMs })
    written.resolve(true)
    return true
  } catch (error) {
    scope.log.warn("a call could not move to the background and stays in the foreground", {
      tool: active.call.tool.name,
      error: toErrorMessage(error),
    })
    scope.written.heldInputs.delete(active.taskId)
    giveBackFacts(active.notes, unsaved)
    active.standing = standing
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
  scope: DetailsScope & HasClock,
  active: ActiveRun,
  admitted: Admitted,
  afterMs: number,
): OperationOf<"task.create"> {
  const { call } = admitted
  const facts: FactEvent[] = [{ type: "task.promoted", afterMs }, ...takeFacts(active.notes)]
  return {
    op: "task.create",
    details: { ...toDetails(scope, admitted, active.taskId), traceId: active.origin.traceId },
    entry: { as: "running", worker: scope.worker.id, startedAt: scope.clock.now() - afterMs },
    facts,
    steps: toStepsTaken(active.steps.journal),
    ...(call.askedBy && { askingStepResult: { taskId: active.taskId } }),
  }
}
