import type { Conversation } from "./conversation/conversation.ts"
import type { ConversationScope } from "./conversation/scope.ts"

/** Plugins and storage that sessions of a runtime begin with. The composition root may still change the plugins. */
export interface SessionDefaults extends Pick<Conversation, "gc" | "sessionPlugin"> {
  /** True if conversations are kept in the store. False in a runtime without a data folder. */
  readonly isKept: boolean
}

/** Only the files beside this one take the whole scope: they hand on its parts. */
export interface AgentScope extends ConversationScope {
  readonly defaults: SessionDefaults
}
