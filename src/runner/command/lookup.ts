import { MeanwhileError } from "../../base/error.ts"
import { DEFAULT_WORKSPACE, type TaskId, type WorkspaceId } from "../../task/id.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { RunnerScope } from "../scope.ts"

const FULL_ID_LENGTH = 36
const CANDIDATES_SHOWN = 5
const ID_CHARACTERS = /^[0-9a-f-]+$/

/** The task of this workspace with that id or unambiguous prefix. Another workspace's task does not exist here. */
export async function findTask(
  scope: RunnerScope,
  id: string,
  workspace: WorkspaceId = DEFAULT_WORKSPACE,
): Promise<TaskRecord> {
  const task = await scope.store.task(await toFullId(scope, id.toLowerCase(), workspace))
  if (task?.workspace === workspace) return task
  throw notFound(id)
}

/** Of a whole id nobody knows by this whether there is such a task. */
export async function toFullId(scope: RunnerScope, id: string, workspace: WorkspaceId): Promise<TaskId> {
  if (!ID_CHARACTERS.test(id)) throw notFound(id)
  if (id.length === FULL_ID_LENGTH) return id as TaskId
  const candidates = await scope.store.findByPrefix(workspace, id, CANDIDATES_SHOWN + 1)
  const [only, ...others] = candidates
  if (only === undefined) throw notFound(id)
  if (others.length === 0) return only
  const shown = candidates.slice(0, CANDIDATES_SHOWN)
  const more = candidates.length > CANDIDATES_SHOWN ? " and more" : ""
  throw new MeanwhileError("ambiguous_id", `${id} could be any of ${shown.join(", ")}${more}. Give more of the id.`, {
    candidates: shown,
  })
}

export function notFound(id: string): MeanwhileError {
  return new MeanwhileError("not_found", `There is no task ${JSON.stringify(id)}. List the tasks to see their ids.`, {
    id,
  })
}
