import type { WorkspaceId } from "../task/id.ts"
import { LIVE_STATUSES, type RunStatus, TERMINAL_STATUSES } from "../task/lifecycle.ts"
import { type TaskKind, WORK_KINDS } from "../task/record.ts"
import type { TaskFilter } from "../task/store.ts"

/** Selects tasks of the desk's workspace. Every part given must hold. */
export interface DeskFilter extends Omit<TaskFilter, "workspace" | "kinds" | "statuses"> {
  /** `work`: everything but turns, which are the conversations themselves. */
  readonly kinds?: "work" | readonly TaskKind[]
  readonly statuses?: "live" | "ended" | readonly RunStatus[]
}

const STATUSES = { live: LIVE_STATUSES, ended: TERMINAL_STATUSES } as const

export function toTaskFilter(workspace: WorkspaceId, { kinds, statuses, ...filter }: DeskFilter): TaskFilter {
  return {
    ...filter,
    workspace,
    ...(kinds && { kinds: kinds === "work" ? WORK_KINDS : kinds }),
    ...(statuses && { statuses: typeof statuses === "string" ? STATUSES[statuses] : statuses }),
  }
}
