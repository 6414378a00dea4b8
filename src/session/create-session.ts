import { toGivenId, toGivenWorkspace, toOptionalId } from "../task/given-id.ts"
import { createSessionId, type SessionId, type WorkspaceId } from "../task/id.ts"
import { MeanwhileError } from "../base/error.ts"
import { createAgentEmitter } from "./conversation/agent-emitter.ts"
import { sealGroups } from "./turn/take-new-turn.ts"
import { type Conversation, inTurn, createNewMessage } from "./conversation/conversation.ts"
import { findLiveTurn } from "./log/stored-turn.ts"
import { createMemoryLog } from "./log/memory-log.ts"
import { parseSessionData, type SessionData } from "./log/session-data.ts"
import { toNewMetadata } from "./log/session-labels.ts"
import type { SessionLog } from "./log/session-log.ts"
import { enableReports } from "./report/create-reporter.ts"
import { createStoredLog, openStoredLog } from "./log/stored-log.ts"
import type { ConversationScope } from "./conversation/scope.ts"
import { type ModelSettings, NO_SETTINGS, toModelSettings, toStoredSettings } from "./conversation/model-settings.ts"
import type { OwnParts, Session, SessionOptions } from "./conversation/session.ts"
import { createSessionFace } from "./session-face.ts"
import type { ConnectedModel } from "../plugin/model.ts"
import { giveTools, takeTools } from "./conversation/own-tools.ts"
import { orWarn } from "./conversation/or-warn.ts"
import { followLiveTasks } from "./conversation/task-watch.ts"
import { startSessionPlugin } from "./saved/session-plugin.ts"

/** Creates a session. Nothing is written before its first turn, unless a session plugin hands back a saved conversation. */
export async function createSession(scope: ConversationScope, options: SessionOptions = {}): Promise<Session> {
  const id = options.id === undefined ? createSessionId() : toGivenId("session", options.id, "id")
  const workspace = toGivenWorkspace(options.workspace)
  const parent = toOptionalId("session", options.parent, "parent")
  const settings = toModelSettings(options)
  const tools = options.tools ? await giveTools(scope, { id, workspace }, options.tools) : null
  try {
    const named = { ...options, id, workspace, parent, tools, isNew: options.id === undefined }
    return await createWith(scope, named, settings)
  } catch (error) {
    if (!scope.open.has(id)) await takeTools(scope, { id, workspace }, tools)
    throw error
  }
}

type NamedOptions = Omit<SessionOptions, "id" | "workspace" | "parent" | "tools"> &
  Pick<ConversationStart, "id" | "workspace" | "isNew"> &
  Pick<SessionData, "parent" | "tools">

async function createWith(scope: ConversationScope, options: NamedOptions, asked: ModelSettings): Promise<Session> {
  const { id, workspace, parent, name = "main", instructions = "", tools } = options
  const model = options.model ?? scope.models.defaultModel
  const modelId = typeof model === "string" ? model : model.id
  const settings = asked === NO_SETTINGS ? {} : { settings: toStoredSettings(asked) }
  const data = parseSessionData({ name, model: modelId, parent, instructions, tools: tools && [...tools], ...settings })
  const labels = { metadata: toNewMetadata(scope.redactor, options.metadata), title: null }
  const { runner, store, redactor, clock } = scope
  const endUnkept = () => runner.endUnkeptTurn(id)
  const onTurnEnded = () => orWarn(scope, "tasks of a turn could not be stopped with it", { session: id }, endUnkept)
  const conversation = await toConversation(scope, { id, workspace, model, isNew: options.isNew }, () =>
    scope.defaults.isKept
      ? createStoredLog({ id, workspace, runner, store, redactor, clock }, data, labels)
      : createMemoryLog({ id, workspace, data, labels, clock, onTurnEnded }),
  )
  if (parent) scope.children.onChild(id, parent)
  conversation.emitter.emit({ type: "agent.created", name, parent, model: modelId })
  await startSessionPlugin(scope, conversation)
  return createSessionFace(scope, conversation)
}

/** Opens a session of the store, or returns the one that is open here. An unknown id is refused as `not_found`. */
export async function openSession(
  scope: ConversationScope,
  id: SessionId,
  workspace: WorkspaceId,
  own: OwnParts = {},
): Promise<Session> {
  const held = scope.open.get(id)
  // Counted at once: whoever closes the last handle in the same moment leaves the conversation open.
  if (held) held.handles += 1
  try {
    const conversation = await openConversation(scope, id, workspace, own.model)
    if (own.model !== undefined) {
      conversation.model = await scope.models.use(own.model)
      conversation.log.amend({ model: conversation.model.id })
    }
    if (own.tools) conversation.log.amend({ tools: await giveTools(scope, { id, workspace }, own.tools) })
    return createSessionFace(scope, conversation)
  } finally {
    if (held) held.handles -= 1
  }
}

export async function openConversation(
  scope: ConversationScope,
  id: SessionId,
  workspace: WorkspaceId,
  given?: OwnParts["model"],
): Promise<Conversation> {
  const open = scope.open.get(id)
  if (open?.log.workspace === workspace) return open
  const { runner, store, redactor, clock } = scope
  const record = await store.session(id)
  if (record?.workspace !== workspace) {
    throw new MeanwhileError("not_found", `There is no session ${id}. List the sessions to see their ids.`)
  }
  const log = await openStoredLog({ id, workspace, runner, store, redactor, clock }, record)
  const model = given ?? (log.data.model || scope.models.defaultModel)
  const conversation = await toConversation(scope, { id, workspace, model, isNew: false }, () => log)
  if (conversation.log !== log) return conversation
  const { name, parent } = log.data
  if (parent) scope.children.onChild(id, parent)
  conversation.emitter.emit({ type: "agent.created", name, parent, model: conversation.model.id })
  await runner.resumeOwnWork()
  await followLiveTasks(scope, conversation)
  // A crash may have left groups that the session's last turn would have sealed.
  if (!(await findLiveTurn(store, log.data))) await inTurn(conversation, () => sealGroups(scope, conversation))
  return conversation
}

interface ConversationStart {
  readonly id: SessionId
  readonly workspace: WorkspaceId
  readonly model: string | ConnectedModel
  /** True if the id was made just now, so that nothing can be stored under it. */
  readonly isNew: boolean
}

async function toConversation(
  scope: ConversationScope,
  { id, workspace, model, isNew }: ConversationStart,
  createLog: () => SessionLog,
): Promise<Conversation> {
  const connected = await scope.models.use(model)
  // Another caller may have opened it meanwhile: two conversations over one log would not know of each other's turns.
  const open = scope.open.get(id)
  if (open?.log.workspace === workspace) return open
  if (open) throw new MeanwhileError("invalid_input", `The id ${id} is taken. Name none, or another.`, { session: id })
  const log = createLog()
  const { parent } = log.data
  const above = () => (parent ? scope.open.get(parent)?.emitter : undefined) ?? scope.open.events
  const { gc, sessionPlugin } = scope.defaults
  const conversation: Conversation = {
    log,
    emitter: createAgentEmitter({ id, workspace, turn: () => conversation.current }, above, scope.log),
    model: connected,
    gc,
    sessionPlugin: parent ? null : sessionPlugin,
    turns: [],
    documents: { mayExist: log.isKept && !isNew, inMemory: new Map() },
    current: null,
    handles: 0,
    watched: new Set(),
    hasTasks: log.isKept && !isNew,
    hasNews: log.position > 0,
    reporter: null,
    messages: { count: 0, held: new Set(), newMessage: createNewMessage() },
    onSpent: null,
    queue: { done: Promise.resolve(), length: 0, openQuestions: 0 },
  }
  scope.open.add(conversation)
  if (conversation.hasTasks) scope.open.noteTasks(conversation)
  if (scope.config.reports.enabled && parent === null && scope.runner.takesTurns(id)) enableReports(scope, conversation)
  return conversation
}
