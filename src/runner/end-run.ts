import { isMeanwhileError, toErrorMessage } from "../base/error.ts"
import type { LifecycleEvent } from "../task/event.ts"
import { isTerminal } from "../task/lifecycle.ts"
import type { TaskRecord } from "../task/record.ts"
import { type Survivors, toStopEvent } from "../task/stop.ts"
import { type ActiveRun, ranMs, survivorsOf } from "./active-run.ts"
import { type Outcome, toFailedOutcome } from "./outcome.ts"
import { writeUnderFence } from "./ownership.ts"
import { saveNotes } from "./running-notes.ts"
import type { RunnerScope } from "./scope.ts"

const FIRST_RETRY_MS = 50
const LONGEST_RETRY_MS = 5_000

/**
 * Writes the end of a run that the store knows, and tries until it can be written or is no longer ours to write. Dying
 * before it is durable leaves the run to whoever reclaims it; nothing was announced. Null: somebody else ended it.
 */
export async function endRun(
  scope: RunnerScope,
  active: ActiveRun,
  outcome: Outcome | undefined,
): Promise<TaskRecord | null> {
  await saveNotes(scope, active)
  const flushed = await flushOutput(scope, active, outcome)
  for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS)) {
    const written = await writeEnd(scope, active, flushed)
    if (written !== "retry") return written
    await new Promise<void>((resolve) => scope.clock.schedule(retryMs, resolve))
  }
}

async function writeEnd(
  scope: RunnerScope,
  active: ActiveRun,
  outcome: Outcome | undefined,
): Promise<TaskRecord | null | "retry"> {
  for (;;) {
    try {
      const event = toEndEvent(scope, active, outcome)
      const written = await writeUnderFence(scope, active, (run) => [{ op: "task.apply", run, event }])
      return written?.[0] ?? null
    } catch (error) {
      if (isFinal(error)) return null
      if (!isMeanwhileError(error, "wrong_state")) {
        const fields = { task: active.taskId, error: toErrorMessage(error) }
        scope.log.error("the end of a task could not be stored; trying again", fields)
        return "retry"
      }
    }
    if (await hasEndedOtherwise(scope, active)) {
      await noteLate(scope, active, outcome)
      return null
    }
  }
}

function isFinal(error: unknown): boolean {
  return (["stale_claim", "closed", "not_found"] as const).some((code) => isMeanwhileError(error, code))
}

/** Output that could not be kept fails the task: what it printed is part of its result. */
async function flushOutput(scope: RunnerScope, active: ActiveRun, outcome: Outcome | undefined) {
  try {
    await active.spool?.flush()
    return outcome
  } catch (error) {
    return outcome?.succeeded ? toFailedOutcome(scope.redactor, error) : outcome
  }
}

function toEndEvent(scope: RunnerScope, active: ActiveRun, outcome: Outcome | undefined): LifecycleEvent {
  const { stop } = active
  if (stop || !outcome) {
    const { by, reason } = stop ?? { by: "lost_worker", reason: "it was given up" }
    return { type: toStopEvent(by), by, reason, survivors: toSurvivors(active, outcome), late: outcome?.patch ?? null }
  }
  if (outcome.succeeded) return { type: "task.completed", patch: outcome.patch }
  if (active.isHandedBack) return { type: "task.released", reason: "shutdown", ranMs: ranMs(active, scope.clock) }
  return { type: "task.failed", failure: outcome.failure, patch: outcome.patch }
}

/** Work inside this process cannot be ended by force: when it was given up it is named as what it is. */
export function toSurvivors(active: ActiveRun, outcome: Outcome | undefined): Survivors {
  if (outcome || (active.spool?.pids().length ?? 0) > 0) return survivorsOf(active)
  return [...active.survivors, { pid: process.pid, command: `${active.tool.name} (inside this process)` }]
}

/** Another stop got in first: take its cause over. True when the run is over, or is no longer this one. */
async function hasEndedOtherwise(scope: RunnerScope, active: ActiveRun): Promise<boolean> {
  const task = await scope.store.task(active.taskId)
  if (!task || task.run !== active.run || isTerminal(task.status)) return true
  if (task.status !== "stopping") return true
  active.stop = { by: task.stop.by, reason: task.stop.reason }
  return false
}

/** What comes after the end is kept beside it, and changes nothing. */
export async function noteLate(scope: RunnerScope, active: ActiveRun, outcome: Outcome | undefined): Promise<void> {
  if (!outcome || active.standing.in !== "background") return
  const run = { taskId: active.taskId, run: active.run }
  try {
    await scope.store.commit([{ op: "task.note", run, facts: [{ type: "task.finished_late", patch: outcome.patch }] }])
  } catch (error) {
    scope.log.warn("a late result could not be stored", { task: active.taskId, error: toErrorMessage(error) })
  }
}
