import { WORK_KINDS, type TaskRecord } from "../../task/record.ts"
import type { TaskStore } from "../../task/store.ts"
import { toTimeLimitMs } from "../admit/details.ts"
import { changeDeadline } from "../run/deadline.ts"
import type { HasClock, HasSpool, StopScope } from "../run/scope.ts"
import { isOurClaim } from "../run/stop-run.ts"
import { findWorker } from "../worker/worker-list.ts"

interface LimitScope extends StopScope, HasSpool {}

/**
 * Changes the time limit of a live task; null: none. The process that runs the task hears of it, or finds it at its next
 * look. Where no process runs it, the guard of its commands is told: after the commit, so that a limit which the store
 * refuses is kept by nobody. A task that has run longer than that already is stopped. `store` is that of whoever asks.
 */
export async function changeLimit(
  scope: LimitScope,
  before: TaskRecord,
  wantedMs: number | null,
  store: TaskStore,
): Promise<TaskRecord> {
  const timeoutMs = toTimeLimitMs(scope, wantedMs)
  const isLeft = await isLeftToGuard(scope, before)
  const [task] = await store.commit([{ op: "task.limit", taskId: before.id, timeoutMs }])
  applyLimit(scope, task)
  if (isLeft && task.status === "running") scope.spool.leaveUntil(task.id, task.run, toUntil(scope, task))
  return task
}

/** True for a run whose commands go on here although the process that ran it is gone. */
async function isLeftToGuard(scope: LimitScope, task: TaskRecord): Promise<boolean> {
  if (task.status !== "running" || scope.active.has(task.id) || !scope.spool.hasRun(task.id, task.run)) return false
  const worker = await findWorker(scope, task.worker)
  return worker === null || worker.isSilent || worker.pid === null
}

/** By this machine's time, which the guard goes by, and counted by wall time: nobody has measured how long the run took. */
function toUntil({ clock }: HasClock, { limits, ranMs, startedAt }: TaskRecord): number | null {
  const now = clock.now()
  return limits.timeoutMs === null ? null : Date.now() + limits.timeoutMs - ranMs - (now - (startedAt ?? now))
}

/** Applies time limits that other processes have written to the runs of this process. */
export async function applyRemoteLimits(scope: StopScope): Promise<void> {
  if (scope.active.size === 0) return
  const { items } = await scope.store.tasks(
    { worker: scope.worker.id, statuses: ["running"], kinds: WORK_KINDS },
    { limit: scope.active.size + 1 },
  )
  for (const task of items) applyLimit(scope, task)
}

function applyLimit(scope: StopScope, task: Pick<TaskRecord, "id" | "run" | "fence" | "limits">): void {
  const { timeoutMs } = task.limits
  const active = scope.active.get(task.id)
  if (active && active.times.limitMs !== timeoutMs && isOurClaim(active, task)) changeDeadline(scope, active, timeoutMs)
}
