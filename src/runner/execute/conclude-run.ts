import { toErrorMessage, isMeanwhileError } from "../../base/error.ts"
import type { Answer } from "../../plugin/task-service.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { TaskRecord } from "../../task/record.ts"
import { toStopEvent } from "../../task/stop.ts"
import { type ActiveRun, ranMs } from "../run/active-run.ts"
import { toShapeKey } from "../admit/details.ts"
import { endRun, noteLate, toSurvivors } from "./end-run.ts"
import { finishFollowing } from "../output/follow-output.ts"
import type { Outcome } from "../run/outcome.ts"
import type {
  FenceScope,
  HasClock,
  HasEngine,
  HasLog,
  HasRedactor,
  HasSpool,
  HasTools,
  SlotScope,
  StopScope,
  HasActive,
  HasStore,
  WaitScope,
} from "../run/scope.ts"
import type { RunSpool } from "../spool/run-spool.ts"
import { sleep } from "../../base/sleep.ts"

interface ConcludeRunScope extends StopScope, SlotScope, HasRedactor, HasEngine, HasSpool, HasTools {}

interface ConcludeUnbegunScope extends SlotScope, FenceScope, HasClock, HasLog, HasRedactor, HasEngine {}

/** Waits for the work to end, or to be given up, and tells the caller or the store. Never rejects. */
export async function concludeRun(scope: ConcludeRunScope, active: ActiveRun, work: Promise<Outcome>): Promise<void> {
  const outcome = await Promise.race([work, active.abandoned.promise])
  const workedMs = ranMs(active, scope.clock)
  active.workedMs = workedMs
  active.cancelDeadline?.()
  while (isUnsettled(active)) await settle(scope, active)
  // Nothing may come between that look and this one: a promotion could begin, and nobody would end its task.
  const { standing } = active
  if (outcome && !active.stop) observeDuration(scope, active, workedMs)
  if (standing.in === "foreground") {
    active.standing = { in: "answered" }
    active.onOutput = null
    const answer = toAnswer(scope, active, outcome)
    active.span?.end(answer)
    standing.answer(answer)
    void closeSpool(scope, active, (spool) => spool.discard())
  }
  const task = standing.in === "background" ? await endRun(scope, active, outcome) : null
  active.onLeft?.(task)
  active.span?.end(task)
  if (task && isTerminal(task.status)) scope.queue.own?.remove(task.id)
  release(scope, active)
  if (standing.in !== "foreground") await closeSpool(scope, active, (spool) => leaveSpool(active, task, spool))
  active.ended.resolve(task)
  if (active.standing.in === "lost") void endLostProcesses(scope, active)
  if (!outcome && active.stop && standing.in === "background") void work.then((late) => noteLate(scope, active, late))
}

/** Ends a run that had no work: nothing of it can be measured or come late. */
export async function concludeUnbegun(scope: ConcludeUnbegunScope, active: ActiveRun, outcome: Outcome): Promise<void> {
  const task = await endRun(scope, active, outcome)
  active.onLeft?.(task)
  active.span?.end(task)
  release(scope, active)
  active.ended.resolve(task)
}

/** While the last output is passed on the threshold may pass too: a promotion that has begun is waited for. */
function isUnsettled({ standing, outputFollower }: ActiveRun): boolean {
  return standing.in === "promotion" || outputFollower !== null
}

async function settle(scope: HasLog, active: ActiveRun): Promise<void> {
  if (active.standing.in === "promotion") await active.standing.written
  else await finishFollowing(scope, active, { isComplete: true })
}

function release(scope: SlotScope, active: ActiveRun): void {
  active.cancelSave?.()
  // Again: a stop that came while the end was being told has set another.
  active.cancelDeadline?.()
  if (scope.active.get(active.taskId) === active) scope.active.delete(active.taskId)
  if (!active.slot) return
  scope.slots.release(active.slot)
  if (scope.queue.hint.mayHaveQueued) scope.queue.nudge()
}

function toAnswer(scope: HasRedactor, active: ActiveRun, outcome: Outcome | undefined): Answer {
  if (active.stop || !outcome) {
    const { by, reason } = active.stop ?? { by: "lost_worker", reason: "it was given up" }
    const ended = toStopEvent(by) === "task.timed_out" ? "timed_out" : "cancelled"
    return { outcome: ended, by, reason, survivors: toSurvivors(scope, active, outcome) }
  }
  if (outcome.succeeded) return { outcome: "completed", patch: outcome.patch }
  return { outcome: "failed", failure: outcome.failure, patch: outcome.patch }
}

/** Output that the store has is not kept here too: nobody here would learn when to remove it. */
function leaveSpool({ stream }: ActiveRun, task: TaskRecord | null, spool: RunSpool): Promise<void> {
  return stream?.isFinished && task && isTerminal(task.status) ? spool.discard() : spool.close()
}

async function closeSpool(scope: HasLog, active: ActiveRun, close: (spool: RunSpool) => Promise<void>): Promise<void> {
  if (!active.spool) return
  await close(active.spool).catch((error: unknown) => {
    scope.log.warn("a spool folder could not be closed", { task: active.taskId, error: toErrorMessage(error) })
  })
}

function observeDuration(scope: HasLog & HasTools, active: ActiveRun, workedMs: number): void {
  try {
    const shape = toShapeKey(active.plugin, active.tool, active.input)
    scope.tools.durations.observe(active.workspace, shape, active.ranBeforeMs + workedMs)
  } catch (error) {
    const fields = { tool: active.tool.name, error: toErrorMessage(error) }
    scope.log.warn("a tool could not name the shape of its call", fields)
  }
}

const LOOK_AGAIN_MS = 500

/**
 * Stops what a lost run still has running here, once the store says that the run is over: the worker that ended it
 * could not reach these processes. A run that was adopted, or begun anew, is another worker's, which has seen its
 * commands end before it ends the run. Dying on the way leaves a folder to the sweep of the next start. Never rejects.
 */
async function endLostProcesses(scope: WaitScope & HasLog & HasSpool, active: ActiveRun): Promise<void> {
  const { spool, taskId, run } = active
  try {
    if (!spool || !(await isOver(scope, active))) return
    if (spool.pids().length > 0) {
      scope.log.warn("a task was ended elsewhere while this worker stood still; its processes are stopped", {
        task: taskId,
      })
      await spool.stopAll(scope.config.stopGraceSeconds * 1_000)
    }
    // One that was just being started when the others were stopped.
    active.processAbort.abort()
    // Without a store that keeps output the files are what is read of it.
    if (scope.engine.outputs) await scope.spool.removeRun(taskId, run)
  } catch (error) {
    if (isMeanwhileError(error, "closed")) return
    scope.log.warn("what a lost task left running could not be stopped", { task: taskId, error: toErrorMessage(error) })
  }
}

/** False: it is somebody's, or nobody can be asked any more. */
async function isOver(scope: HasStore & HasClock & HasActive, active: ActiveRun): Promise<boolean> {
  while (!scope.active.isClosing) {
    const task = await read(scope, active)
    const state = task === "unreadable" ? "undecided" : toState(active, task)
    if (state !== "undecided") return state === "over"
    await sleep(scope.clock, LOOK_AGAIN_MS, { isBackground: true })
  }
  return false
}

async function read({ store }: HasStore, { taskId }: ActiveRun): Promise<TaskRecord | undefined | "unreadable"> {
  try {
    return await store.task(taskId)
  } catch (error) {
    if (isMeanwhileError(error, "closed")) throw error
    return "unreadable"
  }
}

/** Undecided: its lease was taken, and who took it is still looking at what to do. */
function toState({ run, standing }: ActiveRun, task: TaskRecord | undefined): "over" | "another's" | "undecided" {
  if (standing.in !== "lost" || standing.fence === null) return "another's"
  if (!task || task.run !== run || isTerminal(task.status)) return "over"
  const isClaimed = task.status === "running" || task.status === "stopping"
  return isClaimed && task.fence === standing.fence ? "undecided" : "another's"
}
