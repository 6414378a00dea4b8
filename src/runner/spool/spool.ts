import { existsSync } from "node:fs"
import { rm } from "node:fs/promises"
import type { OutputChunk, OutputRequest, PatternAnswer, PatternRequest } from "../../plugin/output.ts"
import type { TaskId } from "../../task/id.ts"
import type { Outputs } from "../../task/outputs.ts"
import { createGuard } from "../process/guard.ts"
import { noteUntil } from "../process/process-file.ts"
import { forbidIfNothingLeft, listLaunches } from "./found-processes.ts"
import { type OutputSource, withNewestSource } from "./output-files.ts"
import { isTaskFolder, listNames, toRunPaths, toTaskDirectory } from "./run-paths.ts"
import { isOrphan, listRuns } from "./orphans.ts"
import { readOutput } from "./read-output.ts"
import {
  createRunSpool,
  type OpenRunSpool,
  removeRun,
  type RunSpool,
  type RunSpoolContext,
  type RunSpoolOptions,
  toRunMarker,
} from "./run-spool.ts"
import { withEarlierOutput, withStoredSource } from "./stored-source.ts"
import { type OnPrinted, waitForPattern } from "./wait-for-pattern.ts"

export type { RunSpool, RunSpoolOptions } from "./run-spool.ts"

/** Keeps the output of tasks and controls their processes. One per Meanwhile process. */
export interface Spool {
  /** Writes nothing. Returns the same object while the run is open here. */
  openRun(taskId: TaskId, run: number, options: RunSpoolOptions): RunSpool
  /** Also reads a run of another process, or one that has ended. */
  read(
    taskId: TaskId,
    run: number,
    request: OutputRequest,
    state: { readonly isComplete: boolean },
  ): Promise<OutputChunk>
  totalBytes(taskId: TaskId, run: number): Promise<number>
  /** True if the run has kept output or started a process, or a takeover has forbidden one. */
  hasRun(taskId: TaskId, run: number): boolean
  /**
   * True if a worker of the run left something here. If false, a worker of this spool that was suspended before the first
   * command of the run can no longer start that command. Asking again gives the same answer.
   */
  forbidIfNothingLeft(taskId: TaskId, run: number): boolean
  /** For a run that no process has: tells the guard until when its commands may run, by this machine's time; null: any time. */
  leaveUntil(taskId: TaskId, run: number, wallMs: number | null): void
  /** `ended` resolves or aborts when the run will print nothing more. */
  waitFor(
    taskId: TaskId,
    run: number,
    request: PatternRequest,
    ended: Promise<void> | AbortSignal,
    onPrinted?: OnPrinted,
  ): Promise<PatternAnswer>
  /** The tasks that have a folder. */
  folders(): readonly TaskId[]
  /** The runs of a task that have a folder. */
  runs(taskId: TaskId): readonly number[]
  /** True if the Meanwhile process that made the task's folder is gone. */
  isOrphan(taskId: TaskId): boolean
  /** True if the folder was made here, and no run of the task is open here any more. */
  hasClosed(taskId: TaskId): boolean
  /**
   * Removes files only: first stop what still runs with the run's `stopAll`. With `lastRun`, the files of later runs
   * stay.
   */
  remove(taskId: TaskId, lastRun?: number): Promise<void>
  /** Removes the files of one run, unless it is open here again. */
  removeRun(taskId: TaskId, run: number): Promise<void>
  /** Waits for writes and removals under way. Processes run on. */
  close(): Promise<void>
}

export interface SpoolOptions extends Pick<RunSpoolContext, "directory" | "clock" | "redactor" | "owner"> {
  /** Where output of workers with their own spool is read. Undefined when all workers share this spool. */
  readonly outputs?: Outputs | undefined
}

export function createSpool({ directory, clock, redactor, owner, outputs }: SpoolOptions): Spool {
  const open = new Map<string, OpenRunSpool>()
  const leaving = new Map<Promise<void>, string>()
  /** Tasks whose runs were released here. */
  const closed = new Set<TaskId>()
  const guard = createGuard(directory, owner)

  /**
   * Output of a run in this process is read from its file; output of any other run from the store, if it keeps output.
   */
  async function withSource<Result>(taskId: TaskId, run: number, use: (source: OutputSource) => Promise<Result>) {
    const key = toKey(taskId, run)
    const live = open.get(key)
    if (live) {
      const result = await live.withSource((source) =>
        outputs && source.firstOffset > 0 ? withEarlierOutput(outputs, taskId, run, source, use) : use(source),
      )
      // The run was closed during the read: its files may be gone, but the store has its output.
      if (!outputs || open.get(key) === live) return result
    }
    const stored = outputs && (await withStoredSource(outputs, taskId, run, use))
    return stored ? stored.result : withNewestSource(toRunPaths(directory, taskId, run), use)
  }

  return {
    openRun(taskId, run, options) {
      const key = toKey(taskId, run)
      const existing = open.get(key)
      existing?.update(options)
      if (existing) return existing
      /** From here on `openRun` creates a new object for the run, which knows nothing of this one's end. */
      function onReleasing(released: Promise<void>): void {
        if (open.get(key) === created) open.delete(key)
        leaving.set(released, key)
        closed.add(taskId)
        const forget = (): void => void leaving.delete(released)
        released.then(forget, forget)
      }
      const created = createRunSpool({ directory, clock, redactor, owner, guard, taskId, run, onReleasing }, options)
      open.set(key, created)
      return created
    },
    hasRun: (taskId, run) => existsSync(toRunPaths(directory, taskId, run).directory),
    forbidIfNothingLeft: (taskId, run) =>
      forbidIfNothingLeft(toRunPaths(directory, taskId, run), toRunMarker(taskId, run)),
    leaveUntil(taskId, run, wallMs) {
      for (const { path } of listLaunches(toRunPaths(directory, taskId, run).directory).values())
        noteUntil(path, wallMs)
    },
    read: (taskId, run, request, { isComplete }) =>
      withSource(taskId, run, (source) => readOutput(source, request, { redactor, isComplete })),
    totalBytes: (taskId, run) => withSource(taskId, run, async (source) => source.totalBytes),
    waitFor: (taskId, run, request, ended, onPrinted) =>
      waitForPattern({
        clock,
        redactor,
        request,
        ended,
        isFar: () => outputs !== undefined && !open.has(toKey(taskId, run)),
        onPrinted,
        withSource: (use) => withSource(taskId, run, use),
      }),
    folders() {
      const names = new Set(listNames(directory).filter(isTaskFolder))
      for (const id of closed) if (!names.has(id)) closed.delete(id)
      return [...names]
    },
    runs: (taskId) => listRuns(toTaskDirectory(directory, taskId)),
    isOrphan: (taskId) => isOrphan(toTaskDirectory(directory, taskId)),
    hasClosed: (taskId) =>
      closed.has(taskId) && ![...open.keys(), ...leaving.values()].some((key) => isOfTask(key, taskId)),
    async remove(taskId, lastRun) {
      const isRemoved = (key: string): boolean => isOfTask(key, taskId, lastRun)
      for (const run of [...open].flatMap(([key, each]) => (isRemoved(key) ? [each] : []))) void run.release()
      await Promise.all([...leaving].flatMap(([released, key]) => (isRemoved(key) ? [released] : [])))
      if (lastRun === undefined) return rm(toTaskDirectory(directory, taskId), { recursive: true, force: true })
      // Includes `lastRun` even without a folder: a process that died in this loop may have left the task's folder empty.
      const runs = new Set([...listRuns(toTaskDirectory(directory, taskId)), lastRun])
      for (const run of runs) if (run <= lastRun) await removeRun(toRunPaths(directory, taskId, run))
    },
    async removeRun(taskId, run) {
      if (!open.has(toKey(taskId, run))) await removeRun(toRunPaths(directory, taskId, run))
    },
    async close() {
      for (const run of open.values()) void run.release()
      await Promise.all(leaving.keys())
      guard.close()
    },
  }
}

function toKey(taskId: TaskId, run: number): string {
  return `${taskId}/${run}`
}

function isOfTask(key: string, taskId: TaskId, lastRun = Number.POSITIVE_INFINITY): boolean {
  const [id, run] = key.split("/")
  return id === taskId && Number(run) <= lastRun
}
