import type { Conversation } from "./conversation/conversation.ts"
import type { ConversationScope } from "./conversation/scope.ts"

/** What every session of a runtime begins with. The composition root may still change the plugins. */
export interface SessionDefaults extends Pick<Conversation, "gc" | "sessionPlugin"> {
  /** True if conversations are kept in the store. False in a runtime without a data folder. */
  readonly isKept: boolean
}

/** The shared scope with what sessions begin with. Only the files beside this one take it whole: they hand on its parts. */
export interface AgentScope extends ConversationScope {
  readonly defaults: SessionDefaults
}
