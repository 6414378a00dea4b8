import type { RunState, TaskCourse, TaskDetails, TaskRecord } from "../../task/record.ts"

/** A task as the operations work on it: what is fixed, what moves, and what only the status says. */
export interface StoredTask extends NewTask {
  readonly number: number
  /** Input and metadata lie in a row of their own. */
  readonly hasLargeInput: boolean
}

export interface NewTask {
  readonly details: TaskDetails
  readonly course: TaskCourse
  readonly state: RunState
}

export function toTaskRecord({ details, course, state }: NewTask): TaskRecord {
  return { ...details, ...course, ...state }
}
