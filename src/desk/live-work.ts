import type { TaskService } from "../plugin/task-service.ts"
import type { SessionId, TaskId } from "../task/id.ts"
import { LIVE_STATUSES } from "../task/lifecycle.ts"
import { type TaskSummary, WORK_KINDS } from "../task/record.ts"
import type { TaskFilter } from "../task/store.ts"
import type { Blocked } from "./blocked.ts"
import type { DeskScope } from "./desk-options.ts"
import { listAll } from "./list-all.ts"

const MOST_LOOKED_AT = 1_000

interface LiveWorkParts extends Pick<DeskScope, "workspace" | "runsTasks"> {
  readonly tasks: Pick<DeskScope["tasks"], "list" | "runsHere" | "workers">
  readonly blocked: Pick<Blocked, "byQuestion">
}

/** The tasks that go on when an actor opens a conversation. Those that wait for a person are not counted. */
export interface LiveWork {
  /** Tasks that this process runs. */
  readonly here: number
  /** Tasks that this process takes when it has room, or that wait for a time. */
  readonly queued: number
  /** Tasks that wait for a worker, if this process runs no tasks. */
  readonly unclaimed: number
  readonly elsewhere: number
  /** Those of them that a keeper runs, and its pid; null: there is none. */
  readonly kept: { readonly count: number; readonly pid: number | null } | null
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
  const waiting = going.filter(isUnclaimed).length
  const here = going.filter(({ id }) => tasks.runsHere(id)).length
  const elsewhere = going.length - here - waiting
  // Others may have begun so many tasks since then that the conversation's own are not among those looked at.
  const own = cursor ? await findLive(tasks, { workspace, session: conversation }) : []
  const all = [...own, ...items]
  const isMeant = await Promise.all(all.map(concerns))
  return {
    here,
    queued: runsTasks ? waiting : 0,
    unclaimed: runsTasks ? 0 : waiting,
    elsewhere,
    kept: elsewhere > 0 ? await findKept(tasks, going) : null,
    hasMore: cursor !== undefined,
    tasks: [...new Set(all.filter((_, index) => isMeant[index]).map(({ id }) => id))],
  }
}

async function findKept(tasks: LiveWorkParts["tasks"], going: readonly TaskSummary[]): Promise<LiveWork["kept"]> {
  const keepers = (await tasks.workers()).filter(({ endsWhenIdle }) => endsWhenIdle)
  const isKept = (task: TaskSummary): boolean => "worker" in task && keepers.some(({ id }) => id === task.worker)
  const count = going.filter(isKept).length
  return count === 0 ? null : { count, pid: keepers.length === 1 ? (keepers[0]?.pid ?? null) : null }
}

/** The live work that the filter selects. A session is the conversation itself, without its agents. */
export function findLive(tasks: Pick<TaskService, "list">, filter: TaskFilter): Promise<readonly TaskSummary[]> {
  return Array.fromAsync(listAll(tasks, { ...filter, statuses: LIVE_STATUSES, kinds: WORK_KINDS }))
}
