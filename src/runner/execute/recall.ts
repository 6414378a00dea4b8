import type { ActiveRun } from "../run/active-run.ts"
import { toJournal } from "../run/journal.ts"
import { requireOwned } from "../run/ownership.ts"
import { spoolOf } from "../output/spool-of.ts"
import type { OutputScope } from "../run/scope.ts"

/**
 * Before the tool is called again: what earlier claims of the run left behind, its steps and the processes that were
 * started or forbidden to start. This takes a while, and the run can be stopped meanwhile: the tool is then not called,
 * and what the earlier claims started is ended here.
 */
export async function recall(scope: OutputScope, active: ActiveRun): Promise<void> {
  try {
    for (const [key, step] of toJournal(await scope.store.steps(active.taskId, active.run))) {
      active.journal.set(key, step)
    }
    if (active.tool.reattaches) await spoolOf(scope, active).reattach()
    const printed = await scope.engine.outputs?.extent(active.taskId, active.run)
    if (printed) spoolOf(scope, active).goOnAt(printed.totalBytes)
    await requireOwned(scope, active)
  } catch (error) {
    await endProcesses(scope, active)
    throw error
  }
}

/** Not of a run that was lost: they are another worker's. */
async function endProcesses(scope: OutputScope, active: ActiveRun): Promise<void> {
  const { taskId, run, standing } = active
  if (standing.in !== "background" || !active.tool.reattaches || !scope.spool.hasRun(taskId, run)) return
  const survivors = await spoolOf(scope, active).stopAll(scope.config.stopGraceSeconds * 1_000)
  if (survivors === "unknown") active.hasUnknownSurvivors = true
  else active.survivors.push(...survivors)
}
