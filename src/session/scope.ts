import type { PersonPort } from "../plugin/person-port.ts"
import type { AgentEvents } from "./conversation/agent-emitter.ts"
import type { Conversation } from "./conversation/conversation.ts"
import type { ModelScope, OpenScope, ServiceScope } from "./conversation/scope.ts"
import type { ReportScope } from "./report/report-config.ts"
import type { ChildScope } from "./subagent/child-scope.ts"

export type SessionDefaults = Pick<Conversation, "gc" | "sessionPlugin">

/** Things that the sessions of one runtime begin with. */
export interface BeginningScope {
  readonly person: PersonPort
  /** Where the events of all sessions arrive. */
  readonly events: AgentEvents
  /** True if conversations are kept in the store. False in a runtime without a data folder. */
  readonly isKept: boolean
  /** The composition root may still change it. */
  readonly defaults: SessionDefaults
}

/** All that the sessions of one runtime share. Only the files beside this one take it whole: they hand on its parts. */
export type AgentScope = ServiceScope & ModelScope & OpenScope & BeginningScope & ReportScope & ChildScope
