import type { StoredTask } from "../../rules/stored-task.ts"
import type { NewJob } from "../boss.ts"
import { toJobId } from "./job-id.ts"

/**
 * pg-boss goes by the server's clock. By another clock the job is there at once, and the table says whether the run is due.
 */
export function toNewJob({ number, details, course, state }: StoredTask, isServerTime: boolean): NewJob {
  const { plugin, workspace, priority } = details
  const isPutOff = isServerTime && state.status === "queued" && state.availableAt > course.queuedAt
  return {
    id: toJobId({ number, run: course.run, fence: course.fence }),
    plugin,
    workspace,
    priority,
    ...(isPutOff ? { startAt: state.availableAt } : {}),
  }
}
