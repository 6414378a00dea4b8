import type { TaskFilter } from "../../plugin/task-filter.ts"
import { toGivenId, toGivenWorkspace, toOptionalId } from "../../task/given-id.ts"
import type { TaskFilter as StoredTaskFilter } from "../../task/store.ts"

/** The filter as the store takes it. None reaches beyond one workspace, not even one that leaves it undefined. */
export function toStoredFilter(filter: TaskFilter): StoredTaskFilter {
  const { workspace, session, parentTask, group, worker, inputHeldBy, ...others } = filter
  return {
    ...others,
    workspace: toGivenWorkspace(workspace),
    ...(session !== undefined && { session: toOptionalId("session", session) }),
    ...(parentTask !== undefined && { parentTask: toGivenId("task", parentTask, "parentTask") }),
    ...(group !== undefined && { group: toGivenId("group", group) }),
    ...(worker !== undefined && { worker: toGivenId("worker", worker) }),
    ...(inputHeldBy !== undefined && { inputHeldBy: toGivenId("worker", inputHeldBy, "inputHeldBy") }),
  }
}
