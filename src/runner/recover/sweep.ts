import { toErrorMessage } from "../../base/error.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { TaskId } from "../../task/id.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { HasActive, HasConfig, HasEngine, HasLog, HasSpool, HasStore } from "../run/scope.ts"

interface FolderScope extends HasLog, HasConfig, HasEngine, HasSpool {}
interface SweepScope extends FolderScope, HasStore, HasActive {}

/**
 * Clears away what dead processes have left. If a folder has no task, it is of a call in the foreground, or of a task whose
 * removal was cut off: its processes are stopped, and it is removed. The folder of a stripped task, which ended long ago,
 * is only removed. Where workers do not share a spool, a worker may have ended a run whose processes it could not reach:
 * they are stopped here. Folders of living processes, of live tasks, and of runs of this process stay: a call that is
 * being promoted has no task yet.
 */
export async function sweepSpool(scope: SweepScope): Promise<void> {
  const orphans = scope.spool.folders().filter((id) => scope.spool.isOrphan(id))
  for (let from = 0; from < orphans.length; from += LOOKS_AT_ONCE)
    await sweepAll(scope, orphans.slice(from, from + LOOKS_AT_ONCE))
}

const LOOKS_AT_ONCE = 500

/**
 * Returns what sweeps the folders in turn, some in each round, those of living processes too: a process that takes a task
 * away may die between the commit and the removal of the files, and its start would be the next one to look.
 */
export function createSweeper(scope: SweepScope): () => Promise<void> {
  let last = ""
  return async () => {
    const folders = scope.spool.folders().toSorted()
    const next = folders.filter((id) => id > last).slice(0, LOOKS_AT_ONCE)
    last = next.length < LOOKS_AT_ONCE ? "" : (next.at(-1) ?? "")
    await sweepAll(scope, next)
  }
}

/** Reads all tasks at once, which PostgreSQL answers with one statement, and again only those that have left something. */
async function sweepAll(scope: SweepScope, ids: readonly TaskId[]): Promise<void> {
  const tasks = await Promise.all(ids.map((id) => scope.store.task(id)))
  for (const [index, id] of ids.entries()) await sweep(scope, id, tasks[index])
}

/** Logs what fails: a disk that is full or read-only must not keep a program from starting. */
async function sweep(scope: SweepScope, id: TaskId, seen: TaskRecord | undefined): Promise<void> {
  if (scope.active.has(id)) return
  try {
    if (!hasLeft(scope, id, seen)) return
    // The folders before this one may have taken long.
    const task = await scope.store.task(id)
    if (task && task.strippedAt !== null) await scope.spool.remove(id, task.run)
    else if (task && scope.spool.isOrphan(id)) await endLeftRuns(scope, task)
    else if (!task && isNobodys(scope, id)) {
      await openRun(scope, id, 1).stopAll(scope.config.stopGraceSeconds * 1_000)
      await scope.spool.remove(id)
    }
  } catch (error) {
    scope.log.warn("what a task left behind could not be cleared away; it is tried again later", {
      task: id,
      error: toErrorMessage(error),
    })
  }
}

/** True if something of the task is to be cleared away here. */
function hasLeft(scope: SweepScope, id: TaskId, task: TaskRecord | undefined): boolean {
  if (!task) return isNobodys(scope, id)
  return task.strippedAt !== null || (scope.spool.isOrphan(id) && leftRuns(scope, task).length > 0)
}

/** A call in the foreground of this process is active for as long as it has a folder. */
function isNobodys({ spool, active }: HasSpool & HasActive, id: TaskId): boolean {
  return !active.has(id) && (spool.hasClosed(id) || spool.isOrphan(id))
}

async function endLeftRuns(scope: FolderScope, task: TaskRecord): Promise<void> {
  for (const run of leftRuns(scope, task)) {
    await endLeftRun(scope, task, run)
    await scope.spool.removeRun(task.id, run)
  }
}

/** The runs with files here that have ended, or were ended elsewhere. */
function leftRuns({ engine, spool }: HasEngine & HasSpool, task: TaskRecord): readonly number[] {
  // Without a store that keeps output there is one spool, and the worker that ended a run has ended its processes.
  if (!engine.outputs) return []
  return spool.runs(task.id).filter((run) => run < task.run || (run === task.run && isTerminal(task.status)))
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
