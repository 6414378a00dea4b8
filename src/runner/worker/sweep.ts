import type { RunnerScope } from "../scope.ts"

/**
 * Clears away what calls in the foreground left when their process died: a folder without a task has its processes
 * stopped and is removed. The folder of a stripped task, which has ended long ago, is only removed. Those of processes
 * that live, and of other tasks, are left alone.
 */
export async function sweepSpool(scope: RunnerScope): Promise<void> {
  for (const { taskId } of await scope.spool.orphans()) {
    const task = await scope.store.task(taskId)
    if (task && task.strippedAt === null) continue
    if (!task) {
      await scope.spool
        .openRun(taskId, 1, { outputLimitBytes: scope.config.outputLimitBytes })
        .stopAll(scope.config.stopGraceSeconds * 1_000)
    }
    await scope.spool.remove(taskId)
  }
}
