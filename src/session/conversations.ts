import type { Clock } from "../base/clock.ts"
import { MeanwhileError } from "../base/error.ts"
import type { AgentListener } from "../plugin/agent-event.ts"
import type { ConversationPortsOf, Log } from "../plugin/context.ts"
import type { PersonPort } from "../plugin/person-port.ts"
import type { Registry } from "../plugin/registry.ts"
import type { SessionDirectory } from "../plugin/sessions-port.ts"
import type { BackgroundConfig } from "../runner/config.ts"
import type { Redactor } from "../runner/redaction/redactor.ts"
import type { Runner } from "../runner/runner.ts"
import type { TurnHandler } from "../runner/turn/turn-run.ts"
import { DEFAULT_WORKSPACE, type SessionId, type WorkspaceId } from "../task/id.ts"
import type { Bus } from "../task/bus.ts"
import type { TaskStore } from "../task/store.ts"
import type { AgentConfig } from "./agent-config.ts"
import { createAgentEvents } from "./agent-emitter.ts"
import type { ModelCatalogue } from "./catalogue.ts"
import { continueTurn } from "./continue-turn.ts"
import { toConversationPorts } from "./conversation-ports.ts"
import { createSession, openSession } from "./create-session.ts"
import { createSessionDirectory } from "./directory.ts"
import type { TokenLedger } from "./ledger.ts"
import { createModelSource, type ModelSource } from "./model-source.ts"
import type { AgentScope } from "./scope.ts"
import type { Session, SessionOptions } from "./session.ts"
import { createSessionFace } from "./session-face.ts"
import { stopTurn } from "./send.ts"
import { createToolList } from "./tool-list.ts"

export interface ConversationsOptions extends Pick<AgentScope, "isKept" | "defaultModel" | "defaults" | "onChild"> {
  readonly runner: Runner
  readonly store: TaskStore
  readonly bus: Bus
  readonly registry: Registry
  readonly clock: Clock
  readonly log: Log
  readonly redactor: Redactor
  readonly config: AgentConfig
  readonly background: Pick<BackgroundConfig, "backgroundThresholdSeconds" | "maxAgentDepth" | "maxAgentFanOut">
  readonly ledger: TokenLedger
  readonly catalogue: ModelCatalogue
  readonly person: PersonPort
  readonly random?: () => number
}

/** The sessions of one runtime. */
export interface Conversations {
  readonly models: ModelSource
  createSession(options?: SessionOptions): Promise<Session>
  openSession(id: SessionId, workspace?: WorkspaceId): Promise<Session>
  directory(workspace?: WorkspaceId): SessionDirectory
  /** Open in this process. */
  open(): readonly SessionId[]
  on(listener: AgentListener): () => void
  /** What the runner calls for every turn: one begun here a moment ago, or one whose worker is gone. */
  readonly takeTurn: TurnHandler
  /** What tools reach beyond their task. */
  readonly portsOf: ConversationPortsOf
  close(): Promise<void>
}

/** A turn that is kept goes on at the next start; one that is not is stopped. Everything else is closed in peace. */
async function closeConversations(scope: AgentScope, closing: AbortController): Promise<void> {
  closing.abort(new MeanwhileError("closed", "Meanwhile is shutting down. Send the message again at the next start."))
  const open = [...scope.open.values()]
  const ending = open.filter(({ current, log }) => !current || !log.isKept)
  for (const conversation of ending) stopTurn(scope, conversation, "Meanwhile is shutting down")
  await Promise.all(ending.map((conversation) => createSessionFace(scope, conversation).close()))
}

export function createConversations(options: ConversationsOptions): Conversations {
  const { registry, log, background, random = Math.random } = options
  const closing = new AbortController()
  const scope: AgentScope = {
    ...options,
    random,
    models: createModelSource(registry),
    tools: createToolList(registry, background.backgroundThresholdSeconds * 1_000),
    events: createAgentEvents(log),
    open: new Map(),
    takers: new Map(),
    comingChildren: new Map(),
    closing: closing.signal,
    createSession: (wanted) => createSession(scope, wanted),
    openSession: (id, workspace) => openSession(scope, id, workspace),
  }
  let closed: Promise<void> | undefined
  return {
    models: scope.models,
    createSession: (wanted) => createSession(scope, wanted),
    openSession: (id, workspace) => openSession(scope, id, workspace),
    directory: (workspace = DEFAULT_WORKSPACE) => createSessionDirectory(scope, workspace),
    open: () => [...scope.open.keys()],
    on: (listener) => scope.events.on(listener),
    takeTurn: (run) => continueTurn(scope, run),
    portsOf: (run) => toConversationPorts(scope, run),
    // A second time there is nothing left to close, and the store may be gone.
    close: () => (closed ??= closeConversations(scope, closing)),
  }
}
