import { MeanwhileError } from "../base/error.ts"
import { createOneAtATime } from "../base/one-at-a-time.ts"
import type { WorkspaceAgentListener } from "../plugin/agent-event.ts"
import type { AskingRun, ConversationPorts, ConversationPortsOf } from "../plugin/context.ts"
import type { PersonPort } from "../plugin/person-port.ts"
import type { SessionDirectory } from "../plugin/sessions-port.ts"
import type { AgentsPort } from "../runner/run/run-ports.ts"
import type { TurnBody } from "../runner/turn/turn-run.ts"
import { type Chore, repeat } from "../runner/worker/repeat.ts"
import { DEFAULT_WORKSPACE, type SessionId, type TaskId, type WorkspaceId } from "../task/id.ts"
import { toGivenId, toGivenWorkspace } from "../task/given-id.ts"
import type { TaskRecord } from "../task/record.ts"
import { createAgentSessions } from "./conversation/agent-sessions.ts"
import { createAgentEvents } from "./conversation/agent-emitter.ts"
import { createOpenConversations } from "./conversation/open-conversations.ts"
import { createModelPort } from "./conversation/model-call.ts"
import { createAgentsPort } from "./subagent/news.ts"
import type { Conversation } from "./conversation/conversation.ts"
import { continueTurn } from "./continue-turn.ts"
import { createSession, openConversation, openSession } from "./create-session.ts"
import { createNews, type News } from "./results/news.ts"
import { createDocumentsPort } from "./saved/documents.ts"
import { createSessionsPort } from "./subagent/sessions-port.ts"
import { createSessionDirectory } from "./saved/directory.ts"
import { createSessionRetention } from "./saved/idle-sessions.ts"
import type { ModelCatalogue } from "./model/catalogue.ts"
import { createModelSource, type ModelSource } from "./model/model-source.ts"
import type { ConversationScope, SharedPorts, Using } from "./conversation/scope.ts"
import type { OwnParts, Session, SessionOptions } from "./conversation/session.ts"
import { promoteCalls } from "./session-face.ts"
import { closeSession } from "./session-handle.ts"
import { stopTurn } from "./conversation/stop-turn.ts"
import { followTask } from "./conversation/task-watch.ts"
import { createToolList } from "./model/tool-list.ts"

/** Options of a runtime's sessions. The rest of their scope is made here. */
export interface ConversationsOptions
  extends Using<
    "runner" | "store" | "bus" | "clock" | "log" | "redactor" | "registry" | "config" | "ledger" | "defaults"
  > {
  readonly catalogue: ModelCatalogue
  /** The model of a session that names none. */
  readonly defaultModel: string
  /** After so long without use a conversation is deleted by this process. Null: never. */
  readonly retentionMs: number | null
  readonly person: PersonPort
  readonly heldUp: SharedPorts["heldUp"]
  /** Called for every subagent: what its parent was allowed may hold for it too. */
  readonly onChild: (child: SessionId, parent: SessionId) => void
  /** Called for every session that is no longer open here. */
  readonly onClosed: (session: SessionId) => void
}

/** The sessions of one runtime. */
export interface Conversations {
  readonly models: ModelSource
  createSession(options?: SessionOptions): Promise<Session>
  openSession(id: string, workspace?: string, own?: OwnParts): Promise<Session>
  directory(workspace?: WorkspaceId): SessionDirectory
  /** The sessions that are open in this process. */
  open(): readonly SessionId[]
  /** Promotes the calls that the session's turn waits for here, as far as possible; returns their tasks. */
  promote(session: SessionId): Promise<readonly TaskId[]>
  /** The workspace of a conversation that this process has in memory. */
  workspaceOf(session: SessionId): WorkspaceId | undefined
  on(listener: WorkspaceAgentListener): () => void
  /**
   * Passes the task's events after `sinceSequence` on to its session's listeners. Called when a task was written or begun
   * anew.
   */
  follow(task: TaskRecord, sinceSequence: number): void
  /** Continues a turn that the runner takes from the queue. */
  readonly continueTurn: TurnBody
  /** The ports that tools have beyond their task. */
  readonly portsOf: ConversationPortsOf
  readonly agents: AgentsPort
  /** With `keepsWork`, tasks of lifetime `turn` and `session` go on, as they would after a crash. */
  close(options?: { readonly keepsWork: boolean }): Promise<void>
}

interface Closing {
  readonly closing: AbortController
  readonly news: News
  readonly retention: Chore | null
  readonly keepsWork: boolean
}

/**
 * Closes all conversations. A kept turn may end during the drain, and else goes on at the next start. A turn that is not
 * kept is stopped.
 */
async function closeConversations(
  scope: ConversationScope,
  { closing, news, retention, keepsWork }: Closing,
): Promise<void> {
  news.close()
  const isRetentionOver = retention?.close()
  for (const { reporter } of scope.open.values()) reporter?.close()
  closing.abort(new MeanwhileError("closed", "Meanwhile is shutting down. Send the message again at the next start."))
  const open = [...scope.open.values()]
  for (const conversation of open) {
    if (!conversation.log.isKept) stopTurn(scope, conversation, "Meanwhile is shutting down")
  }
  await Promise.all(open.map((conversation) => closeIdle(scope, conversation, keepsWork)))
  await isRetentionOver
}

/**
 * Closes a conversation when its work is done. A session that a turn still holds, because it was handed back, has not
 * ended.
 */
async function closeIdle(scope: ConversationScope, conversation: Conversation, keepsWork: boolean): Promise<void> {
  await conversation.queue.done
  if (conversation.log.data.turn === null) await closeSession(scope, conversation, { keepsWork })
}

const RETENTION_EVERY_MS = 60_000

export function createConversations(options: ConversationsOptions): Conversations {
  const { catalogue, defaultModel, retentionMs, person, heldUp, onChild, onClosed, ...shared } = options
  const { registry, store, log } = shared
  const closing = new AbortController()
  const watch = (): void => news.watch()
  const scope: ConversationScope = {
    ...shared,
    models: createModelSource({ registry, catalogue, defaultModel }),
    tools: createToolList(registry, catalogue),
    open: createOpenConversations({ events: createAgentEvents(log), closing: closing.signal, watch, onClosed }),
    ports: { person, changesOfDocument: createOneAtATime(), heldUp },
    children: {
      agents: createAgentSessions(store),
      create: (wanted) => createSession(scope, wanted),
      open: (id, workspace) => openSession(scope, id, workspace),
      bringUp: (id, workspace) => openConversation(scope, id, workspace),
      coming: new Map(),
      onChild,
    },
  }
  const news = createNews(scope)
  const retention =
    retentionMs === null ? null : repeat(scope, RETENTION_EVERY_MS, createSessionRetention(scope, retentionMs))
  const requireRunning = (what: "created" | "opened"): void => {
    if (closing.signal.aborted) throw new MeanwhileError("closed", `Meanwhile is shutting down: no session is ${what}.`)
  }
  let closed: Promise<void> | undefined
  return {
    models: scope.models,
    async createSession(wanted) {
      requireRunning("created")
      return createSession(scope, wanted)
    },
    async openSession(id, workspace, own) {
      requireRunning("opened")
      return openSession(scope, toGivenId("session", id, "id"), toGivenWorkspace(workspace), own)
    },
    directory: (workspace = DEFAULT_WORKSPACE) => createSessionDirectory(scope, workspace),
    open: () => scope.open.values().map(({ log }) => log.id),
    promote: async (id) => promoteCalls(scope.open.get(id)?.current ?? null),
    workspaceOf: (id) => (scope.open.get(id) ?? scope.children.agents.recall(id))?.log.workspace,
    on: (listener) => scope.open.events.on(listener),
    follow: (task, sinceSequence) => followTask(scope, task, sinceSequence),
    continueTurn: (run) => continueTurn(scope, run),
    portsOf: (run) => toConversationPorts(scope, run),
    agents: createAgentsPort(scope),
    // A second time there is nothing left to close, and the store may be gone.
    close: ({ keepsWork } = { keepsWork: false }) =>
      (closed ??= closeConversations(scope, { closing, news, retention, keepsWork })),
  }
}

/** The ports of a tool beyond its task: conversations, its own model, the person and documents. */
function toConversationPorts(scope: ConversationScope, run: AskingRun): ConversationPorts {
  const { taskId, session, workspace, signal, act, traceId } = run
  return {
    sessions: createSessionsPort(scope, { session, workspace, run }),
    get model() {
      const conversation = session && scope.open.get(session)
      if (!conversation)
        throw new MeanwhileError("wrong_state", "This call belongs to no session, and so has no model.")
      return createModelPort(scope, conversation, { signal, act, task: taskId, traceId })
    },
    person: toPersonPort(scope, run),
    documents: createDocumentsPort({ ...scope, store: run.store }, run),
  }
}

/** Background work asks through the inbox: nobody waits for it at the prompt. */
function toPersonPort({ ports: { person }, runner }: Using<"ports" | "runner">, run: AskingRun): PersonPort {
  return {
    isInbox: () => run.isInBackground(),
    async ask(question, own) {
      const signal = own ? AbortSignal.any([own, run.signal]) : run.signal
      if (await run.isInBackground()) return runner.askPerson(run, question, signal)
      return run.act(() => person.ask(question, signal))
    },
  }
}
