import type { JsonValue } from "../../../base/json.ts"
import type { TaskId } from "../../../task/id.ts"
import type { OnCrash, Step } from "../../../task/step.ts"

export interface StepRow {
  readonly key: string
  readonly on_crash: OnCrash
  readonly started_at: number
  readonly finished_at: number | null
  readonly completion: number | null
  readonly result: string | null
}

export const STEP_COLUMNS = "key, on_crash, started_at, finished_at, completion, result"

export function toStep(taskId: TaskId, run: number, row: StepRow): Step {
  const start = { taskId, run, key: row.key, onCrash: row.on_crash, startedAt: row.started_at }
  if (row.completion === null || row.finished_at === null) return { ...start, state: "started" }
  const result = JSON.parse(row.result ?? "null") as JsonValue
  return { ...start, state: "finished", completion: row.completion, result, finishedAt: row.finished_at }
}
