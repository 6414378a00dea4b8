import type { WorkspaceId } from "../task/id.ts"
import type { SessionRecord } from "../task/session.ts"
import type { TaskStore } from "../task/store.ts"

const PAGE_SIZE = 100

/** All sessions of a workspace, the one that was used last first. Only a page is in memory at a time. */
export async function* listSessions(store: TaskStore, workspace: WorkspaceId): AsyncGenerator<SessionRecord> {
  let cursor: string | undefined
  do {
    const page = await store.sessions(workspace, { limit: PAGE_SIZE, ...(cursor && { cursor }) })
    yield* page.items
    cursor = page.cursor
  } while (cursor)
}
