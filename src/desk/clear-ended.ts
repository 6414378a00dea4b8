import { isMeanwhileError } from "../base/error.ts"
import { readFamily } from "../session/log/read-log.ts"
import { toGivenId } from "../task/given-id.ts"
import type { TaskId } from "../task/id.ts"
import { WORK_KINDS } from "../task/record.ts"
import type { TaskFilter } from "../task/store.ts"
import type { DeskScope } from "./desk-options.ts"
import { listAll } from "./list-all.ts"

/** The work that one person has begun in a store that several people share. */
export interface OwnWork {
  /** The sessions of agents below these are cleared too. */
  readonly sessions: readonly string[]
  /** Tasks that belong to no session. */
  readonly tasks: readonly string[]
}

export interface Cleared {
  readonly removed: number
  /** Ended tasks whose session has not used the result yet. */
  readonly kept: number
  /** The tasks named in `OwnWork` that are gone now. */
  readonly gone: readonly TaskId[]
}

interface ClearScope extends Pick<DeskScope, "workspace"> {
  readonly tasks: Pick<DeskScope["tasks"], "clear" | "remove" | "list">
}

interface ClearOwnScope extends ClearScope {
  readonly store: Pick<DeskScope["store"], "sessions">
}

/** Removes ended work of the whole workspace. What a session has not used yet stays. */
export async function clearAll({ workspace, tasks }: ClearScope): Promise<Cleared> {
  const used = await tasks.clear({ workspace, kinds: WORK_KINDS, isConsumed: true })
  // No turn is ever told of these: without this they would stay for ever.
  const withoutSession = await tasks.clear({ workspace, kinds: WORK_KINDS, session: null })
  return { removed: used + withoutSession, kept: await countKept(tasks, { workspace }), gone: [] }
}

/** Removes the ended work of one person. What a session has not used yet stays. */
export async function clearOwn(scope: ClearOwnScope, own: OwnWork): Promise<Cleared> {
  const { workspace, tasks } = scope
  const sessions = own.sessions.map((id) => toGivenId("session", id))
  const ofSessions = (await readFamily(scope.store, workspace, sessions)).map(async (session): Promise<Cleared> => {
    const removed = await tasks.clear({ workspace, kinds: WORK_KINDS, session, isConsumed: true })
    return { removed, kept: await countKept(tasks, { workspace, session }), gone: [] }
  })
  const all = await Promise.all([...ofSessions, ...own.tasks.map((id) => removeTask(scope, toGivenId("task", id)))])
  const sum = (key: "removed" | "kept"): number => all.reduce((total, one) => total + one[key], 0)
  return { removed: sum("removed"), kept: sum("kept"), gone: all.flatMap(({ gone }) => gone) }
}

async function removeTask({ workspace, tasks }: ClearScope, id: TaskId): Promise<Cleared> {
  try {
    const isRemoved = await tasks.remove(id, workspace)
    return { removed: isRemoved ? 1 : 0, kept: 0, gone: isRemoved ? [id] : [] }
  } catch (error) {
    if (isMeanwhileError(error, "not_found")) return { removed: 0, kept: 0, gone: [id] }
    throw error
  }
}

async function countKept(tasks: Pick<ClearScope["tasks"], "list">, filter: TaskFilter): Promise<number> {
  let count = 0
  const unused = { ...filter, kinds: WORK_KINDS, isConsumed: false }
  for await (const { session } of listAll(tasks, unused)) if (session !== null) count++
  return count
}
