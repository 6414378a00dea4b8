import type { Runtime } from "../../app.ts"
import { BACKGROUND_KINDS, type Task, type TaskId, type TaskRow } from "../format.ts"
import { openQuestions } from "../inbox.ts"
import { listTasks } from "../list-tasks.ts"
import { findAbove } from "../tasks-above.ts"

const LIVE = ["queued", "running", "waiting", "stopping"] as const

export interface OwnTasksScope {
  readonly meanwhile: Runtime
  readonly session: NonNullable<Task["session"]>
  /** When the prompt was given. */
  readonly beganAt: number
  /** Seen to go to the background, also in subagents. */
  readonly started: ReadonlySet<TaskId>
}

/** The tasks that a prompt led to, whether they have ended or not, and those from before that live. The oldest first. */
export async function findOwnTasks(scope: OwnTasksScope): Promise<readonly Task[]> {
  const { meanwhile, session, beganAt, started } = scope
  const filter = { session, kinds: BACKGROUND_KINDS }
  const ids = new Set<TaskId>(started)
  for await (const { id } of listTasks(meanwhile, { ...filter, statuses: LIVE })) ids.add(id)
  for await (const { id, createdAt } of listTasks(meanwhile, filter)) {
    if (createdAt < beganAt) break
    ids.add(id)
  }
  const tasks = await Promise.all([...ids].map((id) => meanwhile.engine.store.task(id)))
  return tasks.filter((task) => task !== undefined).toSorted((one, other) => one.createdAt - other.createdAt)
}

/** What is asked by tasks of the session and by those below them. */
export async function findOwnQuestions({ meanwhile, session }: OwnTasksScope) {
  const questions = await openQuestions(meanwhile)
  const owned = await Promise.all(
    questions.map(async ({ taskId }) => {
      const asking = await meanwhile.engine.store.task(taskId)
      return [asking, ...(await findAbove(meanwhile, taskId))].some((task) => task?.session === session)
    }),
  )
  return questions.filter((_, index) => owned[index])
}

export function isLive(task: Task | TaskRow): boolean {
  return !("endedAt" in task)
}

/** Those that somebody meant to end have not failed. */
export function hasFailed(task: Task): boolean {
  switch (task.status) {
    case "failed":
    case "timed_out":
    case "interrupted":
      return true
    case "cancelled":
      return !["person", "model", "lifetime"].includes(task.stop.by)
    default:
      return false
  }
}
