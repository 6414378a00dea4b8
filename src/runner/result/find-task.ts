import { isMeanwhileError, MeanwhileError } from "../../base/error.ts"
import { isIdText, toGivenWorkspace } from "../../task/given-id.ts"
import { DEFAULT_WORKSPACE, type TaskId, type WorkspaceId } from "../../task/id.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { HasStore } from "../run/scope.ts"

const FULL_ID_LENGTH = 36
const CANDIDATES_SHOWN = 5
const CANDIDATES_READ = 50
const SHORT_ID_LENGTH = 8
const ID_CHARACTERS = /^[0-9a-f-]+$/

/** The task of this workspace with that id or unambiguous prefix. Tasks of other workspaces are not found. */
export async function findTask(scope: HasStore, id: string, workspace?: string): Promise<TaskRecord> {
  const task = await scope.store.task(await toFullId(scope, id, toGivenWorkspace(workspace)))
  if (task && task.workspace === (workspace ?? DEFAULT_WORKSPACE)) return task
  throw notFound(id)
}

/** The tasks that there are. One that cannot be found keeps no other from being found; refused if none can be. */
export async function findKnownTasks(
  scope: HasStore,
  ids: readonly string[],
  workspace?: string,
): Promise<readonly TaskRecord[]> {
  const found = await Promise.all(
    ids.map((id) =>
      findTask(scope, id, workspace).catch((error: unknown) => {
        if (isUnknown(error)) return null
        throw error
      }),
    ),
  )
  const known = found.filter((task) => task !== null)
  const [first] = ids
  return known.length > 0 || first === undefined ? known : [await findTask(scope, first, workspace)]
}

/** True for a refusal that says only that this id names no task. */
function isUnknown(error: unknown): boolean {
  return isMeanwhileError(error, "not_found") || isMeanwhileError(error, "ambiguous_id")
}

/** A whole id is returned as it is: there may be no such task. */
export async function toFullId(scope: HasStore, wanted: string, workspace: WorkspaceId): Promise<TaskId> {
  if (!isIdText(wanted)) throw notFound(String(wanted))
  const id = wanted.toLowerCase()
  if (!ID_CHARACTERS.test(id)) throw notFound(wanted)
  if (id.length === FULL_ID_LENGTH) return id as TaskId
  const found = await scope.store.findByPrefix(workspace, id, CANDIDATES_READ)
  const [first, ...others] = found
  if (first === undefined) throw notFound(id)
  if (others.length === 0) return first
  const candidates = await withoutTurns(scope, found)
  const [only] = candidates
  if (only !== undefined && candidates.length === 1 && found.length < CANDIDATES_READ) return only
  throw ambiguous(id, candidates)
}

/** Lists show no turns: a prefix means a turn only where it fits nothing else. */
async function withoutTurns(scope: HasStore, ids: readonly TaskId[]): Promise<readonly TaskId[]> {
  const tasks = await Promise.all(ids.map((id) => scope.store.task(id)))
  const others = tasks.flatMap((task) => (task && task.kind !== "turn" ? [task.id] : []))
  return others.length > 0 ? others : ids
}

function ambiguous(id: string, candidates: readonly TaskId[]): MeanwhileError {
  const shown = candidates.slice(0, CANDIDATES_SHOWN)
  const more = candidates.length > CANDIDATES_SHOWN ? " and more" : ""
  const text = `${id} could be any of ${toShortest(shown).join(", ")}${more}. Give more of the id.`
  return new MeanwhileError("ambiguous_id", text, { candidates: shown })
}

/** The ids as lists show them, or longer where that would not tell them apart. */
function toShortest(ids: readonly TaskId[]): readonly string[] {
  for (let length = SHORT_ID_LENGTH; ; length++) {
    const short = new Set(ids.map((id) => id.slice(0, length)))
    if (short.size === ids.length) return [...short]
  }
}

export function notFound(id: string): MeanwhileError {
  return new MeanwhileError("not_found", `There is no task ${JSON.stringify(id)}. List the tasks to see their ids.`, {
    id,
  })
}
