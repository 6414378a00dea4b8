import { RUN_STATUSES, type RunStatus } from "./lifecycle.ts"

/** The names other protocols have for our statuses. A protocol is named by a key: `workflow` is not our kind of that name. */
export const STATUS_NAMES = {
  queued: { jaato: "pending", opencode: "running", job: "streaming", workflow: "running", mcp: "working" },
  running: { jaato: "running", opencode: "running", job: "streaming", workflow: "running", mcp: "working" },
  waiting: { jaato: "running", opencode: "running", job: "streaming", workflow: "pending", mcp: "input_required" },
  stopping: { jaato: "running", opencode: "running", job: "streaming", workflow: "running", mcp: "working" },
  completed: { jaato: "completed", opencode: "completed", job: "complete", workflow: "completed", mcp: "completed" },
  failed: { jaato: "failed", opencode: "error", job: "error", workflow: "error", mcp: "failed" },
  timed_out: { jaato: "timeout", opencode: "error", job: "error", workflow: "error", mcp: "failed" },
  cancelled: { jaato: "cancelled", opencode: "cancelled", job: "aborted", workflow: "stopped", mcp: "cancelled" },
  interrupted: { jaato: "failed", opencode: "error", job: "error", workflow: "interrupted", mcp: "failed" },
} as const satisfies Record<RunStatus, Record<string, string>>

export type StatusProtocol = keyof (typeof STATUS_NAMES)[RunStatus]

/** opencode calls a run after the first `resumed` while it runs. */
const RESUMED = "resumed"

export function toStatusName(protocol: StatusProtocol, status: RunStatus, run: number): string {
  if (protocol === "opencode" && status === "running" && run > 1) return RESUMED
  return STATUS_NAMES[status][protocol]
}

/** All of our statuses that have this foreign name, for filters: several may share one. */
export function fromStatusName(protocol: StatusProtocol, name: string): readonly RunStatus[] {
  if (protocol === "opencode" && name === RESUMED) return ["running"]
  return RUN_STATUSES.filter((status) => STATUS_NAMES[status][protocol] === name)
}
