import type { StoredTask } from "../../rules/stored-task.ts"
import type { NewJob } from "../boss.ts"
import { type QueueEntry, toJobId } from "./job-id.ts"

/** A task as it was before a transaction and as it is after it; undefined: there was or is none. */
export interface TaskChange {
  readonly before: StoredTask | undefined
  readonly after: StoredTask | undefined
}

/** What a transaction means for the queue. */
export interface QueueChanges {
  readonly entered: readonly NewJob[]
  readonly left: readonly NewJob[]
  readonly prioritized: readonly NewJob[]
}

export function toQueueChanges(changes: readonly TaskChange[], isServerTime: boolean): QueueChanges {
  const entered: NewJob[] = []
  const left: NewJob[] = []
  const prioritized: NewJob[] = []
  for (const { before, after } of changes) {
    const old = before && toJob(before, isServerTime)
    const current = after && toJob(after, isServerTime)
    if (old?.id === current?.id) {
      if (current && current.priority !== old?.priority) prioritized.push(current)
      continue
    }
    if (old) left.push(old)
    if (current) entered.push(current)
  }
  return { entered, left, prioritized }
}

/**
 * pg-boss goes by the server's clock. By another clock the job is there at once, and the table says whether the run is due.
 */
function toJob(task: StoredTask, isServerTime: boolean): NewJob | undefined {
  const { details, course, state } = task
  if (state.status !== "queued") return undefined
  const { plugin, workspace, priority } = details
  const isPutOff = isServerTime && state.availableAt > course.queuedAt
  return {
    id: toJobId(toEntry(task)),
    plugin,
    workspace,
    priority,
    ...(isPutOff ? { startAt: state.availableAt } : {}),
  }
}

function toEntry({ number, course: { run, fence } }: StoredTask): QueueEntry {
  return { number, run, fence }
}
