import { type FactEvent, type LifecycleEvent, type StoppedEvent, toParent } from "./event.ts"
import type { Run, RunCourse, RunState, TaskCourse } from "./record.ts"
import { toStopEvent } from "./stop.ts"

/**
 * The machine of one run. A task's status is that of its last run.
 *
 *   queued ─▶ running ─▶ completed · failed · interrupted
 *     ▲          │
 *     └─ waiting ◀┘            (claim and slot are given up; an answer puts the run back in the queue)
 *   running ─▶ stopping ─▶ cancelled · timed_out
 *   queued, waiting ─▶ cancelled · timed_out · interrupted     (nothing runs: one step)
 *
 * `running ─▶ queued` is a run handed back: by a clean shutdown, or by the worker that reclaims it from a lost one when
 * repeating it is known to be safe. A terminal status has no way out.
 */
export const LIFECYCLE = {
  queued: {
    "task.started": "running",
    "task.cancelled": "cancelled",
    "task.timed_out": "timed_out",
    "task.interrupted": "interrupted",
  },
  running: {
    "task.completed": "completed",
    "task.failed": "failed",
    "task.interrupted": "interrupted",
    "task.waited": "waiting",
    "task.released": "queued",
    "task.stop_requested": "stopping",
  },
  waiting: {
    "task.answered": "queued",
    "task.cancelled": "cancelled",
    "task.timed_out": "timed_out",
    "task.interrupted": "interrupted",
  },
  stopping: { "task.cancelled": "cancelled", "task.timed_out": "timed_out" },
  completed: {},
  failed: {},
  cancelled: {},
  timed_out: {},
  interrupted: {},
} as const satisfies Record<RunStatus, Partial<Record<LifecycleEventType, RunStatus>>>

/** A task in one of them can be asked to stop. One that is `stopping` has been. */
export const STOPPABLE_STATUSES = ["queued", "running", "waiting"] as const
export const LIVE_STATUSES = [...STOPPABLE_STATUSES, "stopping"] as const
export const TERMINAL_STATUSES = ["completed", "failed", "cancelled", "timed_out", "interrupted"] as const
export type TerminalStatus = (typeof TERMINAL_STATUSES)[number]

/** A task in one of them that is no turn takes all below it along, and lets nothing more begin there. */
export const STOPPED_STATUSES: ReadonlySet<RunStatus> = new Set(["stopping", "failed", "cancelled", "timed_out"])

export const RUN_STATUSES = [...LIVE_STATUSES, ...TERMINAL_STATUSES] as const
export type RunStatus = (typeof RUN_STATUSES)[number]

export type LifecycleEventType = LifecycleEvent["type"]

const terminal: ReadonlySet<RunStatus> = new Set(TERMINAL_STATUSES)

export function isTerminal(status: RunStatus): status is TerminalStatus {
  return terminal.has(status)
}

/** The status that the event leads to from this one; undefined if the table has no such transition. */
export function nextStatus(status: RunStatus, type: LifecycleEventType): RunStatus | undefined {
  const ways: Partial<Record<LifecycleEventType, RunStatus>> = LIFECYCLE[status]
  return ways[type]
}

/** The run after the event, or undefined when the machine refuses it. Pure: the engine persists the result. */
export function transition(run: Run, event: LifecycleEvent, now: number): Run | undefined {
  if (nextStatus(run.state.status, event.type) === undefined) return undefined
  const state = toState(run.state, event, now)
  return state && { course: toCourse(run, event, state, now), state }
}

function toCourse({ course, state: before }: Run, event: LifecycleEvent, after: RunState, now: number): RunCourse {
  const { run } = course
  const ranMs = before.status === "running" ? course.ranMs + toRanMs(course, event, now) : course.ranMs
  if (after.status === "running")
    return { run, fence: course.fence + 1, queuedAt: course.queuedAt, startedAt: now, ranMs }
  const queuedAt = after.status === "queued" ? now : course.queuedAt
  return { run, fence: course.fence, queuedAt, startedAt: course.startedAt, ranMs }
}

function toRanMs(course: RunCourse, event: LifecycleEvent, now: number): number {
  if ("ranMs" in event && event.ranMs !== undefined) return event.ranMs
  if (event.type === "task.released" && event.reason === "lost_worker") return 0
  return Math.max(0, now - (course.startedAt ?? now))
}

function toState(before: RunState, event: LifecycleEvent, now: number): RunState | undefined {
  switch (event.type) {
    case "task.started":
      return { status: "running", worker: event.worker }
    case "task.waited":
      return { status: "waiting", wait: event.wait }
    case "task.answered":
      if (before.status !== "waiting" || before.wait.id !== event.waitId) return undefined
      return { status: "queued", availableAt: now }
    case "task.released":
      return { status: "queued", availableAt: now + (event.delayMs ?? 0) }
    case "task.stop_requested":
      if (before.status !== "running") return undefined
      return {
        status: "stopping",
        worker: before.worker,
        stop: { by: event.by, reason: event.reason, requestedAt: now, ...toParent(event) },
      }
    case "task.completed":
      return { status: "completed", endedAt: now, patch: event.patch }
    case "task.failed":
      return { status: "failed", endedAt: now, failure: event.failure, patch: event.patch }
    case "task.interrupted":
      return { status: "interrupted", endedAt: now, by: event.by, failure: event.failure }
    case "task.cancelled":
    case "task.timed_out":
      return toStopped(before, event, now)
  }
}

/** The accepted stop decides the end: a deadline ends as `timed_out`, any other stop as `cancelled`. */
function toStopped(before: RunState, event: StoppedEvent, now: number): RunState | undefined {
  const { by, reason } = event
  const stop = before.status === "stopping" ? before.stop : { by, reason, requestedAt: now, ...toParent(event) }
  if (toStopEvent(stop.by) !== event.type) return undefined
  const status = event.type === "task.timed_out" ? "timed_out" : "cancelled"
  return { status, endedAt: now, stop, survivors: event.survivors, patch: event.late }
}

/** Applies facts about the current run to a record. The caller counts the events. */
export function withFacts<Task extends { readonly course: TaskCourse; readonly state: RunState }>(
  task: Task,
  facts: readonly FactEvent[],
  now: number,
): Task {
  return facts.reduce((known, fact) => withFact(known, fact, now), task)
}

function withFact<Task extends { readonly course: TaskCourse; readonly state: RunState }>(
  task: Task,
  fact: FactEvent,
  now: number,
): Task {
  const { course } = task
  switch (fact.type) {
    case "task.progressed":
      return { ...task, course: { ...course, progress: fact.progress } }
    case "task.spent": {
      const tokens = course.usage.tokens + fact.usage.tokens
      const costMicros = course.usage.costMicros + fact.usage.costMicros
      return { ...task, course: { ...course, usage: { tokens, costMicros } } }
    }
    case "task.retrieved":
      return { ...task, course: { ...course, retrievedAt: course.retrievedAt ?? now } }
    case "task.finished_late":
      return { ...task, state: withLatePatch(task.state, fact.patch) }
    default:
      return task
  }
}

/** A stopped run keeps the first patch that was handed back although it was stopped. */
export function withLatePatch<State extends RunState>(
  state: State,
  patch: Extract<FactEvent, { type: "task.finished_late" }>["patch"],
): State {
  if (state.status !== "cancelled" && state.status !== "timed_out") return state
  return state.patch === null ? { ...state, patch } : state
}
