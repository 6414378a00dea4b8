import type { Clock } from "../../base/clock.ts"
import type { LiveMap } from "../../base/maps.ts"
import type { OneAtATime } from "../../base/one-at-a-time.ts"
import type { Log } from "../../plugin/context.ts"
import type { Registry } from "../../plugin/registry.ts"
import type { BackgroundConfig } from "../../runner/limits/background-config.ts"
import type { Redactor } from "../../runner/redaction/redactor.ts"
import type { Runner } from "../../runner/runner.ts"
import type { Bus } from "../../task/bus.ts"
import type { SessionId } from "../../task/id.ts"
import type { TaskStore } from "../../task/store.ts"
import type { TokenLedger } from "../ledger/ledger.ts"
import type { ModelSource } from "../model/model-source.ts"
import type { ToolList } from "../model/tool-list.ts"
import type { AgentConfig } from "./agent-config.ts"
import type { AgentSessions } from "./agent-sessions.ts"
import type { Conversation } from "./conversation.ts"

/** Tasks, the store and the process's own services. */
export interface ServiceScope {
  readonly runner: Runner
  readonly store: TaskStore
  readonly bus: Bus
  readonly clock: Clock
  readonly log: Log
  readonly redactor: Redactor
  readonly background: Pick<
    BackgroundConfig,
    "maxAgentDepth" | "maxAgentFanOut" | "thresholdSeconds" | "completionScanIntervalMs"
  >
}

/** Instructions, tools and models, and where model calls are counted. */
export interface ModelScope {
  readonly registry: Registry
  readonly config: AgentConfig
  readonly models: ModelSource
  readonly tools: ToolList
  readonly ledger: TokenLedger
}

/** The conversations that are open in this process. */
export interface OpenScope {
  readonly open: LiveMap<SessionId, Conversation>
  readonly agents: AgentSessions
  /** Changes of one document by this process wait for each other, instead of being refused and tried again. */
  readonly changesOfDocument: OneAtATime
  /** Says that a conversation may have tasks from now on: their ends are looked for. */
  readonly watch: () => void
  /** Aborted when the runtime closes: messages that still wait for their turn have none. */
  readonly closing: AbortSignal
  /** Told of every session that is open here no longer. */
  readonly onClosed: (session: SessionId) => void
}

type ConversationScope = ServiceScope & ModelScope & OpenScope

/** The parts of these scopes that a function uses. */
export type Using<Key extends keyof ConversationScope> = Pick<ConversationScope, Key>
