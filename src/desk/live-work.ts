import type { TaskService } from "../plugin/task-service.ts"
import type { SessionId, TaskId, WorkspaceId } from "../task/id.ts"
import { LIVE_STATUSES } from "../task/lifecycle.ts"
import { type TaskSummary, WORK_KINDS } from "../task/record.ts"
import type { Blocked } from "./blocked.ts"
import type { DeskScope } from "./desk-options.ts"
import { listAll } from "./list-all.ts"

const MOST_LOOKED_AT = 1_000

interface LiveWorkParts extends Pick<DeskScope, "workspace" | "runsTasks"> {
  readonly tasks: Pick<DeskScope["tasks"], "list" | "runsHere">
  readonly blocked: Pick<Blocked, "byQuestion">
}

/** The tasks that go on when an actor opens a conversation. Those that wait for a person are not counted. */
export interface LiveWork {
  /** Tasks that this process runs, or will take. */
  readonly here: number
  /** Tasks that wait for a worker, if this process runs no tasks. */
  readonly unclaimed: number
  readonly elsewhere: number
  /** True if the workspace has more live tasks than were counted. */
  readonly hasMore: boolean
  /** All tasks that concern the actor, newest first; if `hasMore`, the conversation's own come first. */
  readonly tasks: readonly TaskId[]
}

export async function findLiveWork(
  { workspace, tasks, blocked, runsTasks }: LiveWorkParts,
  conversation: SessionId,
  concerns: (task: TaskSummary) => Promise<boolean>,
): Promise<LiveWork> {
  const filter = { workspace, statuses: LIVE_STATUSES, kinds: WORK_KINDS }
  const { items, cursor } = await tasks.list(filter, { limit: MOST_LOOKED_AT })
  const held = await blocked.byQuestion()
  const going = items.filter(({ id }) => !held.has(id))
  const isUnclaimed = ({ status }: TaskSummary): boolean => status === "queued" || status === "waiting"
  const unclaimed = runsTasks ? 0 : going.filter(isUnclaimed).length
  const here = going.filter((task) => (runsTasks && isUnclaimed(task)) || tasks.runsHere(task.id)).length
  // Others may have begun so many tasks since then that the conversation's own are not among those looked at.
  const own = cursor ? await findLive(tasks, workspace, conversation) : []
  const all = [...own, ...items]
  const isMeant = await Promise.all(all.map(concerns))
  return {
    here,
    unclaimed,
    elsewhere: going.length - here - unclaimed,
    hasMore: cursor !== undefined,
    tasks: [...new Set(all.filter((_, index) => isMeant[index]).map(({ id }) => id))],
  }
}

/** The tasks of the conversation itself, without those of its agents. */
export function findLive(
  tasks: Pick<TaskService, "list">,
  workspace: WorkspaceId,
  session: SessionId,
): Promise<readonly TaskSummary[]> {
  return Array.fromAsync(listAll(tasks, { workspace, session, statuses: LIVE_STATUSES, kinds: WORK_KINDS }))
}
