import { throughPages } from "../../base/pages.ts"
import type { WorkspaceId } from "../../task/id.ts"
import type { SessionRecord } from "../../task/session.ts"
import type { TaskStore } from "../../task/store.ts"

const PAGE_SIZE = 100

/** All sessions of a workspace, the one that was used last first. Only a page is in memory at a time. */
export async function* listSessions(store: TaskStore, workspace: WorkspaceId): AsyncGenerator<SessionRecord> {
  const pages = throughPages((from) => store.sessions(workspace, { limit: PAGE_SIZE, ...from }))
  for await (const items of pages) yield* items
}
