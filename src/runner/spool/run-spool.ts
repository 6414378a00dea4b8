import { existsSync, rmSync } from "node:fs"
import { rm, rmdir } from "node:fs/promises"
import type { Clock } from "../../base/clock.ts"
import { MeanwhileError } from "../../base/error.ts"
import { type Act, actFreely } from "../../plugin/context.ts"
import type { OutputChunk, OutputRequest } from "../../plugin/output.ts"
import type { ProcessRequest } from "../../plugin/process.ts"
import type { TaskId } from "../../task/id.ts"
import type { Survivor } from "../../task/stop.ts"
import type { ProcessControl, Supervised } from "../process/command.ts"
import type { Guard } from "../process/guard.ts"
import type { ProcessIdentity } from "../process/identity.ts"
import { continueTree } from "../process/pause-tree.ts"
import type { ProcessTree } from "../process/tree.ts"
import type { Redactor } from "../redaction/redactor.ts"
import { beginStream, type StreamStart } from "./begin-stream.ts"
import { openStream, type OpenStream } from "./open-stream.ts"
import { recoverOutput } from "./output-cap.ts"
import { type OutputSource } from "./output-files.ts"
import { findNewestStream, type RunPaths, toRunPaths, toStreamPaths } from "./run-paths.ts"
import { readOutput } from "./read-output.ts"
import { createRunProcesses, type FoundEnd, type Reattachment } from "./run-processes.ts"

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
  /**
   * For use after a restart that finds no process: output of this claim is kept apart from that of earlier ones, behind it.
   * `fence` is the claim's.
   */
  beginStream(fence: number, start: StreamStart): Promise<void>
  /** After `reattach`: undefined while a command lives. */
  foundEnd(): FoundEnd | undefined
  /** Leaves the run's commands to the guard until this wall time; null: without a time limit. */
  leaveUntil(wallMs: number | null): void
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
  /** Called once if the output file is deleted or replaced while processes print to it. */
  readonly onLost?: (error: MeanwhileError) => void
  /** Asked before the files are written or cut: is the run still this worker's? Default: yes. */
  readonly isOurs?: () => Promise<boolean>
  /** Starts the run's processes. Default: calls what it is given. */
  readonly act?: Act
  /** The fence of a claim that goes on with nothing that is here. Default: the newest stream in the folder. */
  readonly stream?: number
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

  const processes = createRunProcesses({
    paths,
    clock,
    owner,
    guard: context.guard,
    stopPastBytes: limitBytes * UNWATCHED_FACTOR,
    marker: toRunMarker(taskId, run),
    outputPath: () => stream.paths.output,
    prepareOutput: () => stream.output.prepare(),
    act: (effect) => (options.act ?? actFreely)(effect),
    onStarted: () => stream.cap.watch(),
  })
  const capped = {
    clock,
    owner,
    limitBytes,
    isOurs: async () => options.isOurs?.() ?? true,
    trees: processes.trees,
    onDropped: (before: number) => options.onDropped?.(before),
    // On a full disk no process can be forbidden either; the failure of the output says so already.
    onFailure: () => void processes.stopAll(FAILED_GRACE_MS).catch(() => undefined),
    // Files of a run that has ended are removed when nobody needs them.
    onLost: (failure: MeanwhileError) => void (ending || options.onLost?.(failure)),
    onIdle: () => void (ending && release()),
  }
  const streamPaths = initial.stream ? toStreamPaths(paths, initial.stream) : findNewestStream(paths)
  let stream: OpenStream = openStream({ ...capped, paths: streamPaths })

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
    await stream.close()
    if (ending === "discarded") await removeRun(paths)
  }

  function abandon(): void {
    if (releasing) return
    releasing = Promise.resolve()
    stream.abandon(new MeanwhileError("stale_claim", `Another worker has taken over task ${taskId} with its output.`))
    processes.release()
    context.onReleasing(releasing)
  }

  async function end(how: "kept" | "discarded"): Promise<void> {
    ending ??= how
    if (releasing || processes.trees().length === 0) await release()
    else stream.cap.watch()
  }

  return {
    update: (next) => void (options = { ...options, ...next }),
    withSource: (use) => stream.output.read(use),
    release,
    write: (data) => stream.output.write(data),
    keep: () => stream.output.keep(),
    flush: () => stream.output.flush().then(stream.cap.settle),
    read: (request = {}, { isComplete } = { isComplete: false }) =>
      stream.output.read((source) => readOutput(source, toOwn(request, source), { redactor, isComplete })),
    async runProcess(request, control) {
      const exit = await processes.run(request, control)
      await stream.cap.look()
      if (stream.output.failure) throw stream.output.failure
      return exit
    },
    async reattach() {
      ending = undefined
      stream.output.keep()
      const reattachment = await processes.reattach()
      recoverOutput(stream.paths)
      continuePaused(paths, processes.trees())
      if (processes.trees().length > 0) stream.cap.watch()
      return reattachment
    },
    beginAnew: processes.beginAnew,
    async beginStream(fence, start) {
      ending = undefined
      stream.cap.abandon()
      await stream.output.flush().catch(() => undefined)
      const next = toStreamPaths(paths, fence)
      await beginStream(next, start)
      stream = openStream({ ...capped, paths: next })
      stream.output.keep()
    },
    foundEnd: processes.foundEnd,
    leaveUntil: processes.leaveUntil,
    pids: processes.pids,
    stopAll: processes.stopAll,
    close: () => end("kept"),
    discard: () => end("discarded"),
    abandon,
  }
}

/** Lets processes go on that were paused for a cut which nobody finished. */
function continuePaused({ paused }: RunPaths, trees: readonly ProcessTree[]): void {
  if (!existsSync(paused)) return
  for (const tree of trees) continueTree(tree)
  rmSync(paused, { force: true })
}

/** A run that reads what it has printed begins where its execution began. */
function toOwn(request: OutputRequest, { restarts }: OutputSource): OutputRequest {
  const isPlaced = request.offset !== undefined || request.tailBytes !== undefined
  return isPlaced ? request : { ...request, offset: restarts.at(-1) ?? 0 }
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
