import { isMeanwhileError, toErrorMessage } from "../base/error.ts"
import type { Answer } from "../plugin/task-service.ts"
import type { LifecycleEvent } from "../task/event.ts"
import { isTerminal } from "../task/lifecycle.ts"
import type { TaskRecord } from "../task/record.ts"
import { toStopEvent } from "../task/stop.ts"
import { type ActiveRun, survivorsOf } from "./active-run.ts"
import { toShapeKey } from "./details.ts"
import type { OutputFollower } from "./follow-output.ts"
import type { Outcome } from "./outcome.ts"
import { writeUnderFence } from "./ownership.ts"
import type { RunSpool } from "./spool/run-spool.ts"
import { saveNotes } from "./running-notes.ts"
import type { RunnerScope } from "./scope.ts"

const FIRST_RETRY_MS = 50
const LONGEST_RETRY_MS = 5_000

/** Waits for the work to end, or to be given up, and tells the caller or the store. Never rejects. */
export async function concludeRun(scope: RunnerScope, active: ActiveRun, work: Promise<Outcome>): Promise<void> {
  const outcome = await Promise.race([work, active.abandoned.promise])
  active.cancelDeadline?.()
  if (active.standing.in === "promotion") await active.standing.written
  if (active.outputFollower) await finishFollowing(scope, active, active.outputFollower)
  const { standing } = active
  if (standing.in === "foreground") concludeForeground(scope, active, standing.answer, outcome)
  const task = standing.in === "background" ? await endInStore(scope, active, outcome) : null
  if (standing.in !== "foreground") await closeSpool(scope, active, (spool) => spool.close())
  active.cancelSave?.()
  if (scope.active.get(active.taskId) === active) scope.active.delete(active.taskId)
  if (active.slot) scope.slots.release(active.slot)
  active.ended.resolve(task)
  if (active.slot && scope.mayHaveQueued) scope.nudge()
  if (!outcome && active.stop) void work.then((late) => noteLate(scope, active, late))
}

function concludeForeground(
  scope: RunnerScope,
  active: ActiveRun,
  answer: (answer: Answer) => void,
  outcome: Outcome | undefined,
): void {
  if (outcome) observeDuration(scope, active)
  answer(toAnswer(active, outcome))
  void closeSpool(scope, active, (spool) => spool.discard())
}

async function closeSpool(
  scope: RunnerScope,
  active: ActiveRun,
  close: (spool: RunSpool) => Promise<void>,
): Promise<void> {
  if (!active.spool) return
  await close(active.spool).catch((error: unknown) => {
    scope.log.warn("a spool folder could not be closed", { task: active.taskId, error: toErrorMessage(error) })
  })
}

async function finishFollowing(scope: RunnerScope, active: ActiveRun, follower: OutputFollower): Promise<void> {
  active.outputFollower = null
  await follower.finish().catch((error: unknown) => {
    scope.log.warn("output could not be passed on", { task: active.taskId, error: toErrorMessage(error) })
  })
}

function toAnswer(active: ActiveRun, outcome: Outcome | undefined): Answer {
  if (active.stop || !outcome) {
    const { by, reason } = active.stop ?? { by: "lost_worker", reason: "it was given up" }
    const ended = toStopEvent(by) === "task.timed_out" ? "timed_out" : "cancelled"
    return { outcome: ended, by, reason, survivors: toSurvivors(active, outcome) }
  }
  if (outcome.succeeded) return { outcome: "completed", patch: outcome.patch }
  return { outcome: "failed", failure: outcome.failure, patch: outcome.patch }
}

/**
 * Writes the end. Dying before it is durable leaves the run to whoever reclaims it; nothing was announced. A stop that
 * was accepted meanwhile stands, and what the work handed back is kept beside it.
 */
async function endInStore(
  scope: RunnerScope,
  active: ActiveRun,
  outcome: Outcome | undefined,
): Promise<TaskRecord | null> {
  await saveNotes(scope, active)
  await active.spool?.flush()
  for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS)) {
    try {
      const event = toEndEvent(scope, active, outcome)
      const written = await writeUnderFence(scope, active, (run) => [{ op: "task.apply", run, event }])
      if (outcome && !active.stop) observeDuration(scope, active)
      scope.heldInputs.delete(active.taskId)
      return written?.[0] ?? null
    } catch (error) {
      if (isMeanwhileError(error, "stale_claim") || isMeanwhileError(error, "closed")) return null
      if (isMeanwhileError(error, "not_found")) return null
      if (isMeanwhileError(error, "wrong_state")) {
        if (!(await hasEndedOtherwise(scope, active))) continue
        await noteLate(scope, active, outcome)
        return null
      }
      scope.log.error("the end of a task could not be stored; trying again", {
        task: active.taskId,
        error: toErrorMessage(error),
      })
      await new Promise<void>((resolve) => scope.clock.schedule(retryMs, resolve))
    }
  }
}

function toEndEvent(scope: RunnerScope, active: ActiveRun, outcome: Outcome | undefined): LifecycleEvent {
  const { stop } = active
  if (stop || !outcome) {
    const { by, reason } = stop ?? { by: "lost_worker", reason: "it was given up" }
    return { type: toStopEvent(by), by, reason, survivors: toSurvivors(active, outcome), late: outcome?.patch ?? null }
  }
  if (outcome.succeeded) return { type: "task.completed", patch: outcome.patch }
  if (active.isHandedBack) return { type: "task.released", reason: "shutdown", ranMs: ranMs(scope, active) }
  return { type: "task.failed", failure: outcome.failure, patch: outcome.patch }
}

/** Work inside this process cannot be ended by force: when it was given up it is named as what it is. */
function toSurvivors(active: ActiveRun, outcome: Outcome | undefined) {
  if (outcome || (active.spool?.pids().length ?? 0) > 0) return survivorsOf(active)
  return [...active.survivors, { pid: process.pid, command: `${active.tool.name} (inside this process)` }]
}

/** Another stop got in first: take its cause over. True when the run is over, or is no longer this one. */
async function hasEndedOtherwise(scope: RunnerScope, active: ActiveRun): Promise<boolean> {
  const task = await scope.store.task(active.taskId)
  if (!task || task.run !== active.run || isTerminal(task.status)) return true
  if (task.status === "stopping") active.stop = { by: task.stop.by, reason: task.stop.reason }
  return task.status !== "stopping"
}

async function noteLate(scope: RunnerScope, active: ActiveRun, outcome: Outcome | undefined): Promise<void> {
  if (!outcome || active.standing.in !== "background") return
  const run = { taskId: active.taskId, run: active.run }
  try {
    await scope.store.commit([{ op: "task.note", run, facts: [{ type: "task.finished_late", patch: outcome.patch }] }])
  } catch (error) {
    scope.log.warn("a late result could not be stored", { task: active.taskId, error: toErrorMessage(error) })
  }
}

function observeDuration(scope: RunnerScope, active: ActiveRun): void {
  scope.durations.observe(
    active.workspace,
    toShapeKey(active.plugin, active.tool, active.input),
    active.ranBeforeMs + ranMs(scope, active),
  )
}

function ranMs(scope: RunnerScope, active: ActiveRun): number {
  return scope.clock.monotonic() - active.startedMonotonicMs
}
