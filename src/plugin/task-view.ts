import type { TaskRecord, TaskSummary } from "../task/record.ts"
import type { MissingAbility, WorkerPlace } from "./worker-view.ts"

/** A task with what only the runner knows about it. */
export interface TaskView {
  readonly task: TaskRecord
  /** 1 for the next to run; null when it is not queued. */
  readonly placeInQueue: number | null
  /** Of a queued one that nobody can run. */
  readonly missing: MissingAbility | null
  /** Who runs it; null: nobody does, or nobody knows who that was. */
  readonly worker: WorkerPlace | null
  /** How long such a call usually takes; null when nobody knows. */
  readonly estimate: DurationEstimate | null
  readonly outputBytes: number
  /** The newest line of progress or output, for people. */
  readonly lastLine: string | null
}

/** A task in a list. */
export type ListedTask = TaskSummary & {
  /** Of a queued one that nobody can run. */
  readonly missing?: MissingAbility
}

export interface DurationEstimate {
  readonly medianMs: number
  readonly p90Ms: number
  /** `history`: learned from earlier calls; `guess`: the tool's own. */
  readonly source: "history" | "guess"
}
