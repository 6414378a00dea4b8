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

export const RUN_STATUSES = [
  "queued",
  "running",
  "waiting",
  "stopping",
  "completed",
  "failed",
  "cancelled",
  "timed_out",
  "interrupted",
] as const
export type RunStatus = (typeof RUN_STATUSES)[number]

export const LIVE_STATUSES = ["queued", "running", "waiting", "stopping"] as const
export const TERMINAL_STATUSES = ["completed", "failed", "cancelled", "timed_out", "interrupted"] as const
export type TerminalStatus = (typeof TERMINAL_STATUSES)[number]

export const LIFECYCLE_EVENT_TYPES = [
  "task.started",
  "task.waited",
  "task.answered",
  "task.released",
  "task.stop_requested",
  "task.completed",
  "task.failed",
  "task.interrupted",
  "task.cancelled",
  "task.timed_out",
] as const
export type LifecycleEventType = (typeof LIFECYCLE_EVENT_TYPES)[number]

const terminal: ReadonlySet<RunStatus> = new Set(TERMINAL_STATUSES)

export function isTerminal(status: RunStatus): status is TerminalStatus {
  return terminal.has(status)
}

/** Where the event leads from this status, or undefined when the table has no such way. */
export function nextStatus(status: RunStatus, type: LifecycleEventType): RunStatus | undefined {
  const ways: Partial<Record<LifecycleEventType, RunStatus>> = LIFECYCLE[status]
  return ways[type]
}
