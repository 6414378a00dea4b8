import { toErrorMessage } from "../../base/error.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { TaskId } from "../../task/id.ts"
import type { Orphan } from "../spool/orphans.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { HasActive, HasConfig, HasEngine, HasLog, HasSpool, HasStore } from "../run/scope.ts"

interface OrphanScope extends HasLog, HasConfig, HasEngine, HasSpool {}

/**
 * Clears away what dead processes have left. If a folder has no task, it is of a call in the foreground: its processes
 * are stopped, and it is removed. The folder of a stripped task, which ended long ago, is only removed. Where workers do
 * not share a spool, a worker may have ended a run whose processes it could not reach: they are stopped here. Folders of
 * living processes, of live tasks, and of runs of this process stay: a call that is being promoted has no task yet.
 */
export async function sweepSpool(scope: OrphanScope & HasStore & HasActive): Promise<void> {
  for (const orphan of await scope.spool.orphans()) {
    if (!scope.active.has(orphan.taskId)) await sweepOrphan(scope, orphan, await scope.store.task(orphan.taskId))
  }
}

/** Logs what fails: a disk that is full or read-only must not keep a program from starting. */
async function sweepOrphan(scope: OrphanScope, { taskId, runs }: Orphan, task: TaskRecord | undefined): Promise<void> {
  try {
    if (task && task.strippedAt === null) return await endLeftRuns(scope, task, runs)
    if (!task) await openRun(scope, taskId, 1).stopAll(scope.config.stopGraceSeconds * 1_000)
    await scope.spool.remove(taskId, task?.run)
  } catch (error) {
    scope.log.warn("what a task left behind could not be cleared away; the next start tries again", {
      task: taskId,
      error: toErrorMessage(error),
    })
  }
}

async function endLeftRuns(scope: OrphanScope, task: TaskRecord, runs: readonly number[]): Promise<void> {
  // Without a store that keeps output there is one spool, and the worker that ended a run has ended its processes.
  if (!scope.engine.outputs) return
  for (const run of runs) {
    if (run > task.run || (run === task.run && !isTerminal(task.status))) continue
    await endLeftRun(scope, task, run)
    await scope.spool.removeRun(task.id, run)
  }
}

/** A command that ended may have left processes on purpose: only a command that still runs is stopped. */
async function endLeftRun(scope: HasLog & HasConfig & HasSpool, { id }: TaskRecord, run: number): Promise<void> {
  const spool = openRun(scope, id, run)
  await spool.reattach()
  if (spool.pids().length > 0) {
    scope.log.warn("a task that was ended elsewhere still has processes here; they are stopped", { task: id })
    await spool.stopAll(scope.config.stopGraceSeconds * 1_000)
  }
  spool.abandon()
}

function openRun(scope: HasConfig & HasSpool, taskId: TaskId, run: number) {
  return scope.spool.openRun(taskId, run, { outputLimitBytes: scope.config.outputLimitBytes })
}
