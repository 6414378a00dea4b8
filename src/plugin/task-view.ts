import type { TaskId } from "../task/id.ts"
import type { TaskRecord, TaskSummary } from "../task/record.ts"
import type { MissingAbility, WorkerPlace } from "./worker-view.ts"

/** A task with what only the runner knows about it. */
export interface TaskView {
  readonly task: TaskRecord
  /** 1 for the next to run; null if the task is not queued. */
  readonly placeInQueue: number | null
  /** Set for a queued task that no live worker can run. */
  readonly missing: MissingAbility | null
  /** The worker that runs it; null if none does, or if the worker is no longer known. */
  readonly worker: WorkerPlace | null
  /** How long such a call usually takes; null if not known. */
  readonly estimate: DurationEstimate | null
  readonly outputBytes: number
  /** The newest line of progress or output, for people. */
  readonly lastLine: string | null
  /** Tasks below it that went on when it was stopped. */
  readonly outlived: readonly TaskId[]
}

/** A task in a list. */
export type ListedTask = TaskSummary & {
  /** Set for a queued task that no live worker can run. */
  readonly missing?: MissingAbility
}

export interface DurationEstimate {
  readonly medianMs: number
  readonly p90Ms: number
  /** `history`: learned from earlier calls; `guess`: the tool's own. */
  readonly source: "history" | "guess"
}
