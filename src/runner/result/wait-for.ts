import { MeanwhileError } from "../../base/error.ts"
import { lookUntil } from "../../base/look-until.ts"
import type { WaitAnswer, WaitRequest } from "../../plugin/wait-request.ts"
import { DEFAULT_WORKSPACE, type WorkspaceId } from "../../task/id.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { TaskView } from "../../plugin/task-service.ts"
import { findGroup } from "../group/find-group.ts"
import { withhold } from "../group/gate.ts"
import { isJoin } from "../group/open-group.ts"
import type { ActiveRun } from "../run/active-run.ts"
import type { HasSpool, HasStore, HasWritten, SlotScope, WaitScope } from "../run/scope.ts"
import { yieldSlots } from "../run/yield-slots.ts"
import { createGroupSubject } from "./group-subject.ts"
import { createPatternSubject, createTaskSubject } from "./task-subject.ts"
import type { WaitSubject } from "./wait-subject.ts"
import { findTask } from "./find-task.ts"
import { acknowledgeTasks, handOverResults, type ResultReader } from "./use-results.ts"

export interface Waiter {
  readonly toView: (task: TaskRecord) => Promise<TaskView>
  readonly workspace?: WorkspaceId
  /** The run that waits. It gives up its slots meanwhile, and a stop of the run ends the wait. */
  readonly run?: ActiveRun
  /** The user of the results. Without a reader they count as used for every addressee. */
  readonly reader?: ResultReader
}

/**
 * Waits until enough of the named tasks have ended, the pattern was printed, or a task needs an answer. Wake-ups lead to
 * a look; a slow poll makes up for lost ones. Waiting writes nothing: after a crash the caller asks again.
 */
export async function waitFor(
  scope: WaitScope & SlotScope & HasSpool & HasWritten,
  request: WaitRequest,
  waiter: Waiter,
): Promise<WaitAnswer> {
  checkRequest(request)
  const subject = await toSubject(scope, request, waiter)
  const reason = await watch(scope, subject, request, waiter.run)
  const { tasks, settled = [], group, match = null } = await subject.read()
  if (request.consume) await handOverResults(scope, tasks, waiter.reader)
  // A run that learns here of rejected results is not told of them again, even if it does not consume results.
  if (request.consume || waiter.run) await acknowledgeTasks(scope, settled, waiter.reader)
  const views = await Promise.all(tasks.map((task) => waiter.toView(task)))
  const shown = waiter.run ? await Promise.all(views.map((view) => withhold(scope, view))) : views
  return { reason, tasks: shown, group, match }
}

async function toSubject(
  scope: WaitScope & HasSpool & HasWritten,
  request: WaitRequest,
  { workspace, run }: Waiter,
): Promise<WaitSubject> {
  const { group: groupId, until, pattern, limitMs } = request
  if (groupId !== undefined) {
    const filter = { workspace: workspace ?? DEFAULT_WORKSPACE, ...(run && { session: run.origin.session }) }
    const group = await findGroup(scope, groupId, filter)
    return createGroupSubject(scope, group, { until, countsOpen: run !== undefined })
  }
  const tasks = await findTasks(scope, request.tasks ?? [], workspace)
  const [first] = tasks
  if (pattern !== undefined && first) return createPatternSubject(scope, first, pattern, limitMs)
  return createTaskSubject(scope, tasks, toWanted(until, tasks.length))
}

async function findTasks(scope: HasStore, ids: readonly string[], workspace: WorkspaceId | undefined) {
  const found = await Promise.all(ids.map((id) => findTask(scope, id, workspace)))
  return [...new Map<string, TaskRecord>(found.map((task) => [task.id, task])).values()]
}

async function watch(
  scope: SlotScope & WaitScope,
  subject: WaitSubject,
  { limitMs, signal }: WaitRequest,
  run: ActiveRun | undefined,
): Promise<WaitAnswer["reason"]> {
  const signals = [signal, run?.control.abort.signal, scope.active.closed.signal]
  let stopLooking: (() => void) | undefined
  let takeSlotsBack: (() => void) | undefined
  const begin = (wake: () => void): void => {
    stopLooking ??= subject.begin?.(wake)
  }
  try {
    const met = await lookUntil({
      clock: scope.clock,
      pollMs: scope.config.completionScanIntervalMs,
      timeoutMs: limitMs,
      signals,
      subscribe(wake) {
        begin(wake)
        return scope.engine.bus.subscribe((heard) => {
          if (subject.hear(heard)) wake()
        })
      },
      onPoll: () => void subject.hear({ about: "unknown" }),
      async look() {
        const reason = await subject.look()
        if (run && !reason) takeSlotsBack ??= yieldSlots(scope, run)
        return reason ?? undefined
      },
    })
    // The stop of a run stops the tasks below it, too: their ends by this stop are not what the run waited for.
    if (run?.control.abort.signal.aborted) return "released"
    if (met) return met
    begin(() => {})
    const isReleased = signals.some((one) => one?.aborted)
    return (await subject.look()) ?? (isReleased ? "released" : "time")
  } finally {
    takeSlotsBack?.()
    stopLooking?.()
  }
}

function toWanted(until: WaitRequest["until"], count: number): number {
  if (until === undefined || until === "all") return count
  if (until === "any") return 1
  if (until <= count) return until
  throw refusal("until", `is ${until}, but only ${count} tasks are named`)
}

function checkRequest({ tasks = [], group, pattern, until, limitMs }: WaitRequest): void {
  if (!Number.isFinite(limitMs) || limitMs < 0) throw refusal("limitMs", `must be 0 or more, not ${limitMs}`)
  if (!isJoin(until)) throw refusal("until", `must be all, any or a whole number above 0, not ${until}`)
  if (group !== undefined && tasks.length > 0)
    throw refusal("group", "and `tasks` cannot be combined: name one of them")
  if (group === undefined && tasks.length === 0) throw refusal("tasks", "must name what to wait for: tasks or a group")
  if (pattern === undefined) return
  if (group !== undefined || tasks.length !== 1)
    throw refusal("pattern", "is looked for in one task: name just that one")
}

function refusal(field: string, problem: string): MeanwhileError {
  return new MeanwhileError("invalid_input", `\`${field}\` ${problem}.`, { field })
}
