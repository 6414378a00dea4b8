import type { Clock } from "../../base/clock.ts"
import type { LiveMap } from "../../base/live-map.ts"
import type { OneAtATime } from "../../base/one-at-a-time.ts"
import type { Log } from "../../plugin/context.ts"
import type { PersonPort } from "../../plugin/person-port.ts"
import type { Registry } from "../../plugin/registry.ts"
import type { BackgroundConfig } from "../../runner/limits/background-config.ts"
import type { Redactor } from "../../runner/redaction/redactor.ts"
import type { Runner } from "../../runner/runner.ts"
import type { Bus } from "../../task/bus.ts"
import type { SessionId, WorkspaceId } from "../../task/id.ts"
import type { TaskStore } from "../../task/store.ts"
import type { AgentConfig } from "./agent-config.ts"
import type { AgentSessions } from "./agent-sessions.ts"
import type { AgentEvents } from "./agent-emitter.ts"
import type { ModelCatalogue } from "../model/catalogue.ts"
import type { Conversation } from "./conversation.ts"
import type { TokenLedger } from "../ledger/ledger.ts"
import type { ModelSource } from "../model/model-source.ts"
import type { ReportsConfig } from "../report/report-config.ts"
import type { Session, SessionOptions } from "./session.ts"
import type { ToolList } from "../model/tool-list.ts"

export type SessionDefaults = Pick<Conversation, "gc" | "sessionPlugin">

/** What the sessions of one runtime share. */
export interface AgentScope {
  readonly runner: Runner
  readonly store: TaskStore
  readonly bus: Bus
  readonly registry: Registry
  readonly clock: Clock
  readonly log: Log
  readonly redactor: Redactor
  readonly config: AgentConfig
  readonly reports: ReportsConfig
  readonly ledger: TokenLedger
  readonly catalogue: ModelCatalogue
  readonly models: ModelSource
  readonly tools: ToolList
  readonly person: PersonPort
  readonly events: AgentEvents
  /** Open in this process. */
  readonly open: LiveMap<SessionId, Conversation>
  readonly agents: AgentSessions
  /** Changes of one document by this process wait for each other, instead of being refused and tried again. */
  readonly changesOfDocument: OneAtATime
  /** A conversation may have tasks from now on: their ends are looked for. */
  readonly watch: () => void
  /** Aborted when the runtime closes: messages that still wait for their turn have none. */
  readonly closing: AbortSignal
  readonly background: Pick<
    BackgroundConfig,
    "maxAgentDepth" | "maxAgentFanOut" | "thresholdSeconds" | "completionScanIntervalMs"
  >
  /** How many subagents are being made, by their parent. */
  readonly comingChildren: Map<SessionId, number>
  /** Told of every subagent: what its parent was allowed may hold for it too. */
  readonly onChild: (child: SessionId, parent: SessionId) => void
  /** Told of every session that is open here no longer. */
  readonly onClosed: (session: SessionId) => void
  readonly createSession: (options: SessionOptions) => Promise<Session>
  readonly openSession: (id: SessionId, workspace: WorkspaceId) => Promise<Session>
  /** Whether conversations are kept in the store. False in a runtime without a data folder. */
  readonly isKept: boolean
  /** Of a session that names none. */
  readonly defaultModel: () => string
  /** What new sessions begin with. Whoever composes the runtime may still change it. */
  readonly defaults: SessionDefaults
  /** From 0 to 1, for the spread of retries. */
  readonly random: () => number
}
