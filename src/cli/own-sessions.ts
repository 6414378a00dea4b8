import type { Runtime } from "../app.ts"
import { throughPages } from "../base/pages.ts"
import type { Task } from "./format.ts"

type SessionId = NonNullable<Task["session"]>
type Store = Runtime["engine"]["store"]

const PAGE_SIZE = 500

/** These conversations, and those of the agents below them, however deep. */
export async function findOwnSessions(
  { engine }: Pick<Runtime, "engine">,
  conversations: readonly SessionId[],
): Promise<readonly SessionId[]> {
  const children = await readChildren(engine.store, conversations)
  const found: SessionId[] = []
  for (let next = conversations; next.length > 0; next = next.flatMap((parent) => children.get(parent) ?? [])) {
    found.push(...next)
  }
  return found
}

async function readChildren(
  store: Store,
  conversations: readonly SessionId[],
): Promise<ReadonlyMap<SessionId, readonly SessionId[]>> {
  const children = new Map<SessionId, SessionId[]>()
  const workspaces = await Promise.all(conversations.map(async (id) => (await store.session(id))?.workspace))
  for (const workspace of new Set(workspaces.flatMap((known) => known ?? []))) {
    const pages = throughPages((from) => store.sessions(workspace, { limit: PAGE_SIZE, ...from }))
    for (const { id, data } of (await Array.fromAsync(pages)).flat()) {
      const parent = (data["parent"] ?? null) as SessionId | null
      if (parent) children.set(parent, [...(children.get(parent) ?? []), id])
    }
  }
  return children
}
