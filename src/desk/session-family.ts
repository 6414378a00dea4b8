import { throughPages } from "../base/pages.ts"
import type { SessionId, WorkspaceId } from "../task/id.ts"
import type { TaskStore } from "../task/store.ts"

const PAGE_SIZE = 500

/** These sessions, and those of the agents below them, however deep. */
export async function findSessionFamily(
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
