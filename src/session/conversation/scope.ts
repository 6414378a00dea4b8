import type { Clock } from "../../base/clock.ts"
import type { OneAtATime } from "../../base/one-at-a-time.ts"
import type { Log } from "../../plugin/context.ts"
import type { PersonPort } from "../../plugin/person-port.ts"
import type { Registry } from "../../plugin/registry.ts"
import type { TaskService } from "../../plugin/task-service.ts"
import type { BackgroundConfig } from "../../runner/limits/background-config.ts"
import type { Redactor } from "../../runner/redaction/redactor.ts"
import type { Runner } from "../../runner/runner.ts"
import type { SessionCommands } from "../../runner/service/session-commands.ts"
import type { Bus } from "../../task/bus.ts"
import type { SessionId, TaskId, WorkspaceId } from "../../task/id.ts"
import type { TaskStore } from "../../task/store.ts"
import type { TokenLedger } from "../ledger/ledger.ts"
import type { ModelSource } from "../model/model-source.ts"
import type { ToolList } from "../model/tool-list.ts"
import type { AgentConfig } from "./agent-config.ts"
import type { AgentSessions } from "./agent-sessions.ts"
import type { Conversation } from "./conversation.ts"
import type { OpenConversations } from "./open-conversations.ts"
import type { ReportsConfig } from "./report-config.ts"
import type { Session, SessionOptions } from "./session.ts"

/** The sections of the configuration that sessions read. */
export interface SessionConfig {
  readonly agent: AgentConfig
  readonly background: Pick<
    BackgroundConfig,
    "maxAgentDepth" | "maxAgentFanOut" | "thresholdSeconds" | "completionScanIntervalMs"
  >
  readonly reports: ReportsConfig
}

/** Creates and opens subagents, and knows which task each of them works for. */
export interface ChildSessions {
  readonly agents: AgentSessions
  readonly create: (options: SessionOptions) => Promise<Session>
  readonly open: (id: SessionId, workspace: WorkspaceId) => Promise<Session>
  /** Opens a conversation that nobody holds: work of it goes on here. */
  readonly bringUp: (id: SessionId, workspace: WorkspaceId) => Promise<Conversation>
  /** How many subagents are being made, by their parent. */
  readonly coming: Map<SessionId, number>
  /** Called for every subagent: what its parent was allowed may hold for it too. */
  readonly onChild: (child: SessionId, parent: SessionId) => void
}

/** Plugins and storage that sessions of a runtime begin with. The composition root may still change the plugins. */
export interface SessionDefaults extends Pick<Conversation, "gc" | "sessionPlugin"> {
  /** True if conversations are kept in the store. False in a runtime without a data folder. */
  readonly isKept: boolean
}

/** The ports of tools and commands beyond sessions and models. */
export interface SharedPorts {
  readonly person: PersonPort
  /** Changes of one document by this process wait for each other, instead of being refused and tried again. */
  readonly changesOfDocument: OneAtATime
  /** The tasks of a workspace that only a person's answer brings on. */
  readonly heldUp: (workspace: WorkspaceId) => Promise<ReadonlySet<TaskId>>
}

/**
 * All that the sessions of one runtime share. Only the files in `session/` itself take all of it: they hand on its parts.
 */
export interface ConversationScope {
  /** The commands over tasks, and those that conversations need beside them. */
  readonly runner: TaskService & SessionCommands & Pick<Runner, "takesTurns" | "resumeOwnWork">
  readonly store: TaskStore
  readonly bus: Bus
  readonly clock: Clock
  readonly log: Log
  readonly redactor: Redactor
  readonly registry: Registry
  readonly config: SessionConfig
  readonly models: ModelSource
  readonly tools: ToolList
  /** Where model calls are counted. */
  readonly ledger: TokenLedger
  readonly open: OpenConversations
  readonly children: ChildSessions
  readonly ports: SharedPorts
  readonly defaults: SessionDefaults
}

/** The parts of the scope that a function uses. */
export type Using<Key extends keyof ConversationScope> = Pick<ConversationScope, Key>
