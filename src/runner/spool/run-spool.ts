import { existsSync, rmSync } from "node:fs"
import { rm, rmdir } from "node:fs/promises"
import type { Clock } from "../../base/clock.ts"
import { MeanwhileError } from "../../base/error.ts"
import type { OutputChunk, OutputRequest } from "../../plugin/output.ts"
import type { ProcessRequest } from "../../plugin/process.ts"
import type { TaskId } from "../../task/id.ts"
import type { Survivor } from "../../task/stop.ts"
import type { ProcessControl, Supervised } from "../process/command.ts"
import type { Guard } from "../process/guard.ts"
import type { ProcessIdentity } from "../process/identity.ts"
import { continueTree } from "../process/pause-tree.ts"
import type { Redactor } from "../redaction/redactor.ts"
import { continueOutput, recoverOutput, createOutputCap } from "./output-cap.ts"
import { type OutputSource, type RunPaths, toRunPaths } from "./output-files.ts"
import { readOutput } from "./read-output.ts"
import { createRunOutput } from "./run-output.ts"
import { createRunProcesses, type Reattachment } from "./run-processes.ts"

/** The output and the processes of one run, while this Meanwhile process runs it. */
export interface RunSpool {
  write(data: string | Uint8Array): void
  /** Puts what was written so far, and all that follows, on disk: the run is becoming a task. */
  keep(): void
  /**
   * Resolves when all that was written is in the file, and the file is within its limit. Rejects when the output cannot
   * be written, with `disk_full` on a full disk.
   */
  flush(): Promise<void>
  read(request?: OutputRequest, state?: { readonly isComplete: boolean }): Promise<OutputChunk>
  /** Gives `use` all that was printed so far, unredacted. */
  withSource<Result>(use: (source: OutputSource) => Promise<Result>): Promise<Result>
  /** Never rejects because of an abort: resolves with the processes that could not be ended. */
  runProcess(request: ProcessRequest, control: ProcessControl): Promise<Supervised["exit"]>
  /** For use after a restart: the n-th `runProcess` then finds the n-th process instead of starting it. */
  reattach(): Promise<Reattachment>
  /** For use after a restart: every `runProcess` then starts its process, whatever an earlier claim of the run started. */
  beginAnew(): void
  /** Says how much of the run's output the store has. If that is more than is here, new output continues after it. */
  goOnAt(totalBytes: number): void
  pids(): readonly number[]
  stopAll(graceMs: number): Promise<readonly Survivor[]>
  /** The run is over and its output stays. Processes that it left alive are watched until they end or the spool closes. */
  close(): Promise<void>
  /** The run is over and nothing of it stays. */
  discard(): Promise<void>
  /** Another worker has the run: from now on nothing here touches its files. Its processes run on. */
  abandon(): void
}

export interface RunSpoolOptions {
  readonly outputLimitBytes: number
  /** Called when the cap has dropped everything below this absolute offset. */
  readonly onDropped?: (before: number) => void
  /** Asked before the files are cut: is the run still this worker's? Default: yes. */
  readonly isOurs?: () => Promise<boolean>
}

/** The parts that the spool gives each of its runs. */
export interface RunSpoolContext {
  readonly directory: string
  readonly clock: Clock
  readonly redactor: Redactor
  /** This process. While it lives, no other process clears its folders away. */
  readonly owner: ProcessIdentity
  readonly guard: Guard
  readonly taskId: TaskId
  readonly run: number
  /** Called once, when the object begins to release the run. `released` resolves when nothing here uses the files. */
  readonly onReleasing: (released: Promise<void>) => void
}

/** A `RunSpool` with the two functions that only the spool calls. */
export interface OpenRunSpool extends RunSpool {
  update(options: RunSpoolOptions): void
  /** Closes the run here without stopping its processes. */
  release(): Promise<void>
}

/** The guard's limit while Meanwhile is down, as a multiple of the cap. */
const UNWATCHED_FACTOR = 4
const FAILED_GRACE_MS = 5_000

export function createRunSpool(context: RunSpoolContext, initial: RunSpoolOptions): OpenRunSpool {
  const { clock, redactor, owner, taskId, run } = context
  const paths = toRunPaths(context.directory, taskId, run)
  const limitBytes = initial.outputLimitBytes
  let options = initial
  let ending: "kept" | "discarded" | undefined

  const output = createRunOutput(paths, limitBytes, () => cap.check())
  const processes = createRunProcesses({
    paths,
    clock,
    owner,
    guard: context.guard,
    stopPastBytes: limitBytes * UNWATCHED_FACTOR,
    marker: toRunMarker(taskId, run),
    prepareOutput: output.prepare,
    onStarted: () => cap.watch(),
  })
  const cap = createOutputCap({
    paths,
    clock,
    limitBytes,
    appender: output.appender,
    isOurs: async () => options.isOurs?.() ?? true,
    trees: processes.trees,
    onDropped: (before) => options.onDropped?.(before),
    onFailure: (failure) => {
      output.fail(failure)
      // On a full disk no process can be forbidden either; the failure of the output says so already.
      void processes.stopAll(FAILED_GRACE_MS).catch(() => undefined)
    },
    onIdle: () => {
      if (ending) void release()
    },
  })

  let releasing: Promise<void> | undefined
  function release(): Promise<void> {
    if (!releasing) {
      releasing = letGo()
      context.onReleasing(releasing)
    }
    return releasing
  }

  async function letGo(): Promise<void> {
    processes.release()
    await cap.close()
    await output.appender.flush().catch(() => undefined)
    if (ending === "discarded") await removeRun(paths)
  }

  function abandon(): void {
    if (releasing) return
    releasing = Promise.resolve()
    cap.abandon()
    output.abandon(new MeanwhileError("stale_claim", `Another worker has taken over task ${taskId} with its output.`))
    processes.release()
    context.onReleasing(releasing)
  }

  async function end(how: "kept" | "discarded"): Promise<void> {
    ending ??= how
    if (releasing || processes.trees().length === 0) await release()
    else cap.watch()
  }

  return {
    update: (next) => {
      options = { ...options, ...next }
    },
    withSource: output.read,
    release,
    write: output.write,
    keep: output.keep,
    flush: () => output.flush().then(cap.settle),
    read: (request = {}, { isComplete } = { isComplete: false }) =>
      output.read((source) => readOutput(source, request, { redactor, isComplete })),
    async runProcess(request, control) {
      const exit = await processes.run(request, control)
      if (output.failure) throw output.failure
      return exit
    },
    async reattach() {
      ending = undefined
      output.keep()
      const reattachment = await processes.reattach()
      recoverOutput(paths)
      if (existsSync(paths.paused)) {
        for (const tree of processes.trees()) continueTree(tree)
        rmSync(paths.paused, { force: true })
      }
      if (processes.trees().length > 0) cap.watch()
      return reattachment
    },
    beginAnew: processes.beginAnew,
    goOnAt(totalBytes) {
      if (processes.trees().length === 0) continueOutput(paths, totalBytes)
    },
    pids: processes.pids,
    stopAll: processes.stopAll,
    close: () => end("kept"),
    discard: () => end("discarded"),
    abandon,
  }
}

/** The beginning of the environment variable that all processes of a run carry. */
export function toRunMarker(taskId: TaskId, run: number): string {
  return `MEANWHILE_TASK=${taskId}/${run}`
}

export async function removeRun(paths: RunPaths): Promise<void> {
  await rm(paths.directory, { recursive: true, force: true })
  // Fails when the task has another run, and then the folder stays.
  await rmdir(paths.taskDirectory).catch(() => undefined)
}
