import type { Runtime } from "../app.ts"
import { BACKGROUND_KINDS, type Task, type TaskId } from "./format.ts"
import { isAwaited, openQuestions } from "./inbox.ts"
import { findAbove } from "./tasks-above.ts"

type Meanwhile = Pick<Runtime, "engine" | "tasks">
type Question = Awaited<ReturnType<typeof openQuestions>>[number]

/** What an agent says of itself when it has nothing left to do but to hear how its own tasks end. */
const WAITING_FOR_TASKS = "waiting for tasks"
const LIVE = ["queued", "running", "waiting", "stopping"] as const

/**
 * Those that nothing but a person's answer brings on: they ask, the agent that asks stands still, or every task that an
 * agent waits for is such a one.
 */
export async function findBlocked(meanwhile: Meanwhile): Promise<ReadonlySet<TaskId>> {
  const questions = await openQuestions(meanwhile)
  const blocked = new Set(questions.map(({ taskId }) => taskId))
  // What one question holds up may be all that another agent waits for.
  for (let known = -1; known < blocked.size; ) {
    known = blocked.size
    for (const question of questions) await addAbove(meanwhile, question, blocked)
  }
  return blocked
}

async function addAbove(meanwhile: Meanwhile, question: Question, blocked: Set<TaskId>): Promise<void> {
  let isStanding = isAwaited(question)
  let below = await meanwhile.engine.store.task(question.taskId)
  for (const task of await findAbove(meanwhile, question.taskId)) {
    if (isStanding || (await isHeldUp(meanwhile, task, below, blocked))) blocked.add(task.id)
    if (task.kind === "agent") isStanding = false
    below = task
  }
}

/** `below` is of the agent's own conversation. */
async function isHeldUp(
  { tasks }: Meanwhile,
  agent: Task,
  below: Task | undefined,
  blocked: ReadonlySet<TaskId>,
): Promise<boolean> {
  if (agent.kind !== "agent" || agent.progress?.phase !== WAITING_FOR_TASKS || !below?.session) return false
  const { items } = await tasks.list({ session: below.session, kinds: BACKGROUND_KINDS, statuses: LIVE })
  return items.every(({ id }) => blocked.has(id))
}
