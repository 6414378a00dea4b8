import type { Runtime } from "../../app.ts"
import { BACKGROUND_KINDS, formatAnnouncement, shortId, type Task, type TaskId, toLine } from "../format.ts"
import { formatResultHead } from "../format-result.ts"
import { formatQuestion, isQuestion } from "../inbox.ts"
import type { Screen } from "../screen/screen.ts"

const LIVE = ["queued", "running", "waiting", "stopping"] as const
/** How often a task that has not ended is looked at: it may need a person by now. */
const LOOK_EVERY_MS = 1_000

export interface LeftTasksScope {
  readonly meanwhile: Runtime
  readonly screen: Screen
  readonly session: NonNullable<Task["session"]>
  /** Seen to go to the background, also in subagents. */
  readonly started: ReadonlySet<TaskId>
}

/** What is left of a session's tasks: nothing, some that only a person can bring on, or some that nobody waited for. */
export type LeftTasks = "none" | "questions" | "running"

/** Waits until every task of the session has ended or needs a person. Costs no tokens. */
export async function waitForTasks(scope: LeftTasksScope, signal: AbortSignal): Promise<LeftTasks> {
  const asking = new Set<TaskId>()
  const told = new Set<TaskId>()
  for (;;) {
    const live = await findLive(scope, told)
    const going = live.filter((id) => !asking.has(id))
    if (going.length === 0) return asking.size > 0 ? "questions" : "none"
    if (signal.aborted) return "running"
    await Promise.all(going.map((id) => follow(scope, id, signal, asking, told)))
  }
}

/** Says what the shutdown does to tasks that nobody waits for. */
export async function leaveTasks(scope: LeftTasksScope): Promise<void> {
  for (const id of await findLive(scope, new Set())) {
    const { task } = await scope.meanwhile.tasks.get(id)
    const becomes =
      task.lifetime === "forever" ? "goes on" : task.status === "running" ? "is stopped" : "is left behind"
    scope.screen.print(`[${shortId(id)}] ${becomes}: ${toLine(task.title)}`)
  }
}

async function findLive({ meanwhile, session, started }: LeftTasksScope, told: Set<TaskId>): Promise<TaskId[]> {
  const { items } = await meanwhile.tasks.list({ session, statuses: LIVE, kinds: BACKGROUND_KINDS })
  const seen = new Set([...started, ...items.map(({ id }) => id)])
  return [...seen].filter((id) => !told.has(id))
}

async function follow(
  { meanwhile, screen }: LeftTasksScope,
  id: TaskId,
  signal: AbortSignal,
  asking: Set<TaskId>,
  told: Set<TaskId>,
): Promise<void> {
  const { task } = await meanwhile.tasks.result(id, { waitMs: LOOK_EVERY_MS, signal })
  if (task.status === "waiting" && isQuestion(task.wait)) {
    asking.add(id)
    screen.print(formatQuestion({ taskId: id, ...task.wait }, "meanwhile tasks answer"))
  } else if ("endedAt" in task) {
    told.add(id)
    const head = formatResultHead(task)
    screen.print(`${formatAnnouncement(task)}${head === "" ? "" : `\n${head}`}`)
  }
}
