import type { CancelTimer } from "../../base/clock.ts"
import { toErrorMessage } from "../../base/error.ts"
import type { OutputChunk } from "../../plugin/output.ts"
import type { RunReference } from "../../task/operation.ts"
import { isRefusedForNow } from "../../task/store-refusal.ts"
import type { ActiveRun } from "../run/active-run.ts"
import type { HasClock, HasLog, HasActive, HasEngine, HasRedactor, HasWritten, OutputScope } from "../run/scope.ts"
import { createOutputStream, type OutputStream } from "../spool/output-stream.ts"
import type { RunSpool } from "../spool/run-spool.ts"
import { confirmOwned, toAct } from "../run/ownership.ts"
import { createStoreRetry } from "../run/store-retry.ts"
import { reportDropped } from "../run/run-account.ts"

const LOOK_EVERY_MS = 40

/** For a run elsewhere, where looking costs more. */
const LOOK_FAR_EVERY_MS = 250

/** Keeps what a run prints in the store. */
export interface StreamScope extends HasClock, HasLog, HasRedactor, HasEngine, HasWritten {}

/**
 * The run's spool. Output of a run that the store knows is kept on disk from the first byte. A claim that finds nothing
 * of earlier ones here opens it when it first prints.
 */
export function spoolOf(scope: OutputScope, active: ActiveRun): RunSpool {
  if (active.output.spool) return active.output.spool
  const { standing } = active
  const spool = openSpool(scope, active, "fence" in standing && standing.fence !== null ? standing.fence : FIRST_FENCE)
  streamOutput(scope, active)
  followRun(scope, active)
  return spool
}

const FIRST_FENCE = 1

/** Without `stream`: with the newest stream that is here. */
export function openSpool(scope: OutputScope, active: ActiveRun, stream?: number): RunSpool {
  active.output.spool = scope.spool.openRun(active.taskId, active.run, {
    outputLimitBytes: active.call.limits.outputBytes ?? scope.config.outputLimitBytes,
    onDropped: (before) => reportDropped(scope, active, before),
    onLost: ({ message }) => scope.log.warn("the output of a task is lost", { task: active.taskId, error: message }),
    isOurs: () => confirmOwned(scope, active),
    act: toAct(scope, active),
    ...(stream !== undefined && { stream }),
  })
  if (active.standing.in !== "foreground") active.output.spool.keep()
  return active.output.spool
}

/** Stands between what a lost worker printed and what the run prints when it is done again. */
const RESTART_NOTE = "\n(its worker was lost; from here on it is run again)\n"

/** Reads the output of a run of this process, or of one that may run elsewhere. */
export type ReadOutput = (offset: number, state: { readonly isComplete: boolean }) => Promise<OutputChunk>

export function followOutput(
  scope: HasClock & HasLog,
  read: ReadOutput,
  onOutput: (text: string) => void,
  isFar: () => boolean = () => false,
) {
  let offset = 0
  let restartedAt: number | null = null
  let looking: Promise<void> = Promise.resolve()
  let isStopped = false
  let hasFailed = false
  let cancelTimer: CancelTimer = schedule()

  async function look(isComplete: boolean): Promise<void> {
    for (;;) {
      const chunk = await read(offset, { isComplete })
      if (isStopped) return
      const isStuck = chunk.nextOffset === offset
      offset = chunk.nextOffset
      if (chunk.restartedAt !== restartedAt) onOutput(RESTART_NOTE)
      restartedAt = chunk.restartedAt
      if (chunk.text !== "") onOutput(chunk.text)
      if (isStuck || offset >= chunk.totalBytes) return
    }
  }

  function schedule(): CancelTimer {
    return scope.clock.schedule(isFar() ? LOOK_FAR_EVERY_MS : LOOK_EVERY_MS, () => {
      looking = look(false)
        .catch(warnOnce)
        .then(() => {
          if (!isStopped) cancelTimer = schedule()
        })
    })
  }

  /** Warns only once: a store that is away comes back. */
  function warnOnce(error: unknown): void {
    if (!hasFailed) scope.log.warn("output could not be read; trying again", { error: toErrorMessage(error) })
    hasFailed = true
  }

  return {
    async finish({ isComplete }: { readonly isComplete: boolean }): Promise<void> {
      await looking
      cancelTimer()
      await look(isComplete)
    },
    /** Passes on nothing more. */
    stop(): void {
      isStopped = true
      cancelTimer()
    },
  }
}

/** Passes output on from its first byte, if somebody listens. Most calls print nothing and have no spool to look at. */
export function followRun(scope: HasClock & HasLog, active: ActiveRun): void {
  const { listeners, output } = active
  if (!listeners.onOutput || !output.spool) return
  const read: ReadOutput = async (offset, state) => output.spool?.read({ offset }, state) ?? toNothing(offset, state)
  output.follower ??= followOutput(scope, read, listeners.onOutput)
}

function toNothing(offset: number, { isComplete }: { readonly isComplete: boolean }): OutputChunk {
  return {
    text: "",
    offset,
    nextOffset: offset,
    totalBytes: offset,
    droppedBefore: null,
    restartedAt: null,
    isComplete,
  }
}

/** Passes on what is left before the answer. An error of the listener does not change the call. */
export async function finishFollowing(
  scope: HasLog,
  active: ActiveRun,
  state: { readonly isComplete: boolean },
): Promise<void> {
  const follower = active.output.follower
  active.output.follower = null
  active.listeners.onOutput = null
  await follower?.finish(state).catch((error: unknown) => {
    scope.log.warn("output could not be passed on", { task: active.taskId, error: toErrorMessage(error) })
  })
}

/**
 * From now on also sends what the run prints to the store, if the store keeps output and knows the run. Not for a run
 * whose secret only another process knows: nobody here could take it out.
 */
export function streamOutput(scope: StreamScope, active: ActiveRun): void {
  const { output, standing, taskId, run } = active
  const { spool } = output
  if (output.stream || !spool || standing.in !== "background") return
  if (active.call.isInputHeld && !scope.written.heldInputs.has(taskId)) return
  output.stream = openStream(scope, spool, { taskId, run, fence: standing.fence }, standing.fence === FIRST_FENCE)
}

function openStream(
  { redactor, clock, engine, log }: HasClock & HasLog & HasRedactor & HasEngine,
  spool: RunSpool,
  run: Required<RunReference>,
  isFirst: boolean,
): OutputStream | null {
  if (!engine.outputs) return null
  let hasFailed = false
  function onFailure(error: unknown): void {
    if (hasFailed) return
    hasFailed = true
    log.warn("what a task prints could not be stored; trying again", { task: run.taskId, error: toErrorMessage(error) })
  }
  return createOutputStream({ outputs: engine.outputs, run, isFirst, spool, redactor, clock, onFailure })
}

/**
 * Called before the end of a run is written, so that a reader who sees the end sees all that was printed. While the
 * store takes no writes, the end cannot be written either, so this tries again. A refusal for another reason does not
 * keep the run from ending.
 */
export async function storeOutput(
  scope: HasClock & HasLog & HasActive,
  { output: { stream }, taskId }: ActiveRun,
): Promise<void> {
  if (stream) await finishStream(scope, stream, taskId)
}

/** Called before a run goes on without this process. The worker that takes it over stores the rest. */
export async function storeOutputSoFar(scope: HasLog, { output: { stream }, taskId }: ActiveRun): Promise<void> {
  await stream?.pause().catch((error: unknown) => {
    scope.log.warn("what a task has printed could not be stored", { task: taskId, error: toErrorMessage(error) })
  })
}

/**
 * Stores the output that a lost worker left in files, before the end of the run is written, or before the run is begun
 * anew. Not if its input held a secret that only that worker knew.
 */
export async function storeLeftOutput(
  scope: StreamScope & HasActive,
  spool: RunSpool,
  run: Required<RunReference>,
  isInputHeld: boolean,
): Promise<void> {
  if (isInputHeld && !scope.written.heldInputs.has(run.taskId)) return
  const stream = openStream(scope, spool, run, false)
  if (stream) await finishStream(scope, stream, run.taskId)
}

async function finishStream(scope: HasClock & HasLog & HasActive, stream: OutputStream, task: string): Promise<void> {
  for (const retry = createStoreRetry(scope); ; await retry.pause()) {
    try {
      return await stream.finish()
    } catch (error) {
      const fields = { task, error: toErrorMessage(error) }
      if (!isRefusedForNow(error) || retry.isOver()) {
        scope.log.error("the last output of a task could not be stored", fields)
        return
      }
      scope.log.warn("the last output of a task could not be stored; trying again", fields)
    }
  }
}
