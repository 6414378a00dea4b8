import { isMeanwhileError } from "../base/error.ts"
import type { TaskService } from "../plugin/task-service.ts"
import type { SessionId, TaskId, WorkspaceId } from "../task/id.ts"
import { WORK_KINDS } from "../task/record.ts"
import type { TaskFilter, TaskStore } from "../task/store.ts"
import { listAll } from "./list-all.ts"
import { throughPages } from "../base/pages.ts"

/** In a store that several people share: what one of them has begun. */
export interface OwnWork {
  /** With those of the agents below them. */
  readonly sessions: readonly SessionId[]
  /** Tasks that belong to no session. */
  readonly tasks: readonly TaskId[]
}

export interface Cleared {
  readonly removed: number
  /** Ended tasks whose session has not used the result yet. */
  readonly kept: number
  /** The tasks named in `OwnWork` that are gone now. */
  readonly gone: readonly TaskId[]
}

type ClearingTasks = Pick<TaskService, "clear" | "remove" | "list">
type Filter = Omit<TaskFilter, "kinds">

/** Removes ended work of the whole workspace. What a session has not used yet stays. */
export async function clearAll(workspace: WorkspaceId, tasks: ClearingTasks): Promise<Cleared> {
  const used = await tasks.clear({ workspace, kinds: WORK_KINDS, isConsumed: true })
  // No turn is ever told of these: without this they would stay for ever.
  const withoutSession = await tasks.clear({ workspace, kinds: WORK_KINDS, session: null })
  return { removed: used + withoutSession, kept: await countKept(tasks, { workspace }), gone: [] }
}

/** The same for what one person has begun. */
export async function clearOwn(
  workspace: WorkspaceId,
  store: Pick<TaskStore, "sessions">,
  tasks: ClearingTasks,
  own: OwnWork,
): Promise<Cleared> {
  const ofSessions = (await findSessionFamily(workspace, store, own.sessions)).map(async (session) => {
    const removed = await tasks.clear({ workspace, kinds: WORK_KINDS, session, isConsumed: true })
    return { removed, kept: await countKept(tasks, { workspace, session }), gone: [] }
  })
  const ofNone = own.tasks.map(async (id) => {
    const outcome = await removeTask(workspace, tasks, id)
    return { removed: outcome === "removed" ? 1 : 0, kept: 0, gone: outcome === "lives" ? [] : [id] }
  })
  const all: readonly Cleared[] = await Promise.all([...ofSessions, ...ofNone])
  const sum = (key: "removed" | "kept"): number => all.reduce((total, one) => total + one[key], 0)
  return { removed: sum("removed"), kept: sum("kept"), gone: all.flatMap(({ gone }) => gone) }
}

async function removeTask(
  workspace: WorkspaceId,
  tasks: ClearingTasks,
  id: TaskId,
): Promise<"removed" | "lives" | "missing"> {
  try {
    return (await tasks.remove(id, workspace)) ? "removed" : "lives"
  } catch (error) {
    if (isMeanwhileError(error, "not_found")) return "missing"
    throw error
  }
}

async function countKept(tasks: ClearingTasks, filter: Filter): Promise<number> {
  let count = 0
  const unused = { ...filter, kinds: WORK_KINDS, isConsumed: false }
  for await (const { session } of listAll(tasks, unused)) if (session !== null) count++
  return count
}

const PAGE_SIZE = 500

/** These sessions, and those of the agents below them, however deep. */
async function findSessionFamily(
  workspace: WorkspaceId,
  store: Pick<TaskStore, "sessions">,
  sessions: readonly SessionId[],
): Promise<readonly SessionId[]> {
  const children = new Map<SessionId, SessionId[]>()
  for await (const records of throughPages((from) => store.sessions(workspace, { limit: PAGE_SIZE, ...from }))) {
    for (const { id, data } of records) {
      const parent = (data["parent"] ?? null) as SessionId | null
      if (parent) children.set(parent, [...(children.get(parent) ?? []), id])
    }
  }
  const found: SessionId[] = []
  for (let next = sessions; next.length > 0; next = next.flatMap((parent) => children.get(parent) ?? [])) {
    found.push(...next)
  }
  return found
}
