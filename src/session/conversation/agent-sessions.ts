import { createNewestMap } from "../../base/newest-map.ts"
import type { SessionId, TaskId, WorkspaceId } from "../../task/id.ts"
import type { TaskStore } from "../../task/store.ts"
import type { Conversation } from "./conversation.ts"

/** A task of kind `agent`. */
export interface AgentTask {
  readonly id: TaskId
  readonly workspace: WorkspaceId
}

/** Knows which conversation an agent task works in. */
export interface AgentSessions {
  /** Null before the task has a conversation, and after that was deleted. */
  find(task: AgentTask): Promise<SessionId | null>
  /** Records the conversation of a call that was made again after a crash. */
  keep(task: AgentTask, session: SessionId): Promise<void>
  /** Remembers the conversation of a task whose log is in memory. */
  remember(task: TaskId, conversation: Conversation): void
  forget(task: TaskId): void
  recall(session: SessionId): Conversation | undefined
}

const COLLECTION = "agent-sessions"
/** Conversations that are not kept and can still be resumed. */
const MOST_REMEMBERED = 100

/**
 * The turns of an agent name its task, so nothing more is written, and where the turns are gone, the conversation is too.
 * Only a call that was made again after a crash has a task that no turn names: `keep` records it.
 */
export function createAgentSessions(store: TaskStore): AgentSessions {
  const unkept = createNewestMap<TaskId, Conversation>(MOST_REMEMBERED)

  async function findTurn({ id, workspace }: AgentTask): Promise<SessionId | null> {
    const { items } = await store.tasks({ workspace, parentTask: id, kinds: ["turn"] }, { limit: 1 })
    return items[0]?.session ?? null
  }

  return {
    async find(task) {
      const here = unkept.get(task.id)
      if (here) return here.log.id
      const session = (await findTurn(task)) ?? toSession(await store.document(task.workspace, COLLECTION, task.id))
      return session !== null && (await store.session(session))?.workspace === task.workspace ? session : null
    },
    async keep(task, session) {
      if ((await findTurn(task)) === session) return
      const { workspace, id } = task
      const known = await store.document(workspace, COLLECTION, id)
      if (toSession(known) === session) return
      const expectedVersion = known?.version ?? 0
      const value = { session }
      await store.commit([{ op: "document.put", workspace, collection: COLLECTION, id, value, expectedVersion }])
    },
    remember: (task, conversation) => unkept.set(task, conversation),
    forget: (task) => unkept.delete(task),
    recall: (session) => [...unkept.values()].find(({ log }) => log.id === session),
  }
}

function toSession(document: { readonly value: unknown } | undefined): SessionId | null {
  const value = document?.value
  const isKnown = typeof value === "object" && value !== null && "session" in value && typeof value.session === "string"
  return isKnown ? (value.session as SessionId) : null
}
