import { createLiveMap } from "../../base/live-map.ts"
import type { SessionId } from "../../task/id.ts"
import type { AgentEvents } from "./agent-emitter.ts"
import type { Conversation } from "./conversation.ts"

/** The conversations that are open in this process. */
export interface OpenConversations {
  /** Where the events of all of them arrive. */
  readonly events: AgentEvents
  /** Aborts when the runtime closes: messages that still wait get no turn. */
  readonly closing: AbortSignal
  get(id: SessionId): Conversation | undefined
  has(id: SessionId): boolean
  values(): readonly Conversation[]
  add(conversation: Conversation): void
  remove(id: SessionId): void
  /** Records that a conversation may have tasks from now on, so that their ends are looked for. */
  noteTasks(conversation: Conversation): void
}

interface OpenConversationsOptions extends Pick<OpenConversations, "events" | "closing"> {
  /** Begins to look for the ends of tasks. */
  readonly watch: () => void
  /** Called for every session that is no longer open here. */
  readonly onClosed: (session: SessionId) => void
}

export function createOpenConversations(options: OpenConversationsOptions): OpenConversations {
  const { events, closing, watch, onClosed } = options
  const open = createLiveMap<SessionId, Conversation>()
  return {
    events,
    closing,
    get: open.get,
    has: open.has,
    values: open.values,
    add: (conversation) => open.set(conversation.log.id, conversation),
    remove(id) {
      open.delete(id)
      onClosed(id)
    },
    noteTasks(conversation) {
      conversation.hasTasks = true
      watch()
    },
  }
}
