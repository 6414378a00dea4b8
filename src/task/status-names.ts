import { RUN_STATUSES, type RunStatus } from "./lifecycle.ts"

/** The names other protocols have for our statuses. A key names a protocol: `workflow` is not our kind of that name. */
export const STATUS_NAMES = {
  jaato: {
    queued: "pending",
    running: "running",
    waiting: "running",
    stopping: "running",
    completed: "completed",
    failed: "failed",
    timed_out: "timeout",
    cancelled: "cancelled",
    interrupted: "failed",
  },
  opencode: {
    queued: "running",
    running: "running",
    waiting: "running",
    stopping: "running",
    completed: "completed",
    failed: "error",
    timed_out: "error",
    cancelled: "cancelled",
    interrupted: "error",
  },
  job: {
    queued: "streaming",
    running: "streaming",
    waiting: "streaming",
    stopping: "streaming",
    completed: "complete",
    failed: "error",
    timed_out: "error",
    cancelled: "aborted",
    interrupted: "error",
  },
  workflow: {
    queued: "running",
    running: "running",
    waiting: "pending",
    stopping: "running",
    completed: "completed",
    failed: "error",
    timed_out: "error",
    cancelled: "stopped",
    interrupted: "interrupted",
  },
  mcp: {
    queued: "working",
    running: "working",
    waiting: "input_required",
    stopping: "working",
    completed: "completed",
    failed: "failed",
    timed_out: "failed",
    cancelled: "cancelled",
    interrupted: "failed",
  },
} as const satisfies Record<string, Record<RunStatus, string>>

export type StatusProtocol = keyof typeof STATUS_NAMES

/** opencode calls a run after the first `resumed` while it runs. */
const RESUMED = "resumed"

export function toStatusName(protocol: StatusProtocol, status: RunStatus, run: number): string {
  if (protocol === "opencode" && status === "running" && run > 1) return RESUMED
  return STATUS_NAMES[protocol][status]
}

/** The way back is a set, for filters only: several of our statuses share one foreign name. */
export function fromStatusName(protocol: StatusProtocol, name: string): readonly RunStatus[] {
  if (protocol === "opencode" && name === RESUMED) return ["running"]
  return RUN_STATUSES.filter((status) => STATUS_NAMES[protocol][status] === name)
}
