import { MeanwhileError, toErrorMessage } from "../base/error.ts"
import { actFreely } from "../plugin/context.ts"
import { textOf } from "../plugin/message.ts"
import { withdrawHeld } from "./turn/begin-when-free.ts"
import { type Conversation, inTurn, NEVER } from "./conversation/conversation.ts"
import { contextUsage, offeredTools, requireOpen, toClosed, toResetData } from "./conversation/context.ts"
import { createTrajectory } from "./results/trajectory.ts"
import { enableReports } from "./report/create-reporter.ts"
import { runCommand } from "./run-command.ts"
import type { ConversationScope } from "./conversation/scope.ts"
import { retryTurn } from "./turn/retry-turn.ts"
import { send } from "./turn/send.ts"
import type { Session } from "./conversation/session.ts"
import { readSessionState } from "./saved/session-state.ts"
import { useSessionPlugin } from "./saved/session-plugin.ts"
import { settled } from "./settled.ts"
import { stopTurn } from "./conversation/stop-turn.ts"
import { collectContext } from "./turn/collect-context.ts"
import { toTurn } from "./turn/turn-handle.ts"
import type { GcConfig } from "../plugin/gc-plugin.ts"
import type { Execution } from "../plugin/task-service.ts"
import type { TaskId } from "../task/id.ts"

/** The session object that callers use, over a conversation. */
export function createSessionFace(scope: ConversationScope, conversation: Conversation): Session {
  const { log, emitter } = conversation
  const close = (): Promise<void> => closeSession(scope, conversation)
  function change<Result>(work: () => Promise<Result>): Promise<Result> {
    return inTurn(conversation, async () => {
      requireOpen(scope, conversation)
      return work()
    })
  }
  const own: Omit<Session, keyof SessionStanding> = {
    id: log.id,
    name: log.data.name,
    workspace: log.workspace,
    parent: log.data.parent,
    async useModel(model) {
      const connected = await scope.models.use(model)
      if (conversation.current) log.amend({ model })
      else await change(() => log.write({ entries: [], data: { model } }))
      conversation.model = connected
    },
    start: (message, options) =>
      toTurn(scope, conversation, (onStored) => send(scope, conversation, message, { ...options, onStored })),
    retry: (options) =>
      toTurn(scope, conversation, (onStored) => retryTurn(scope, conversation, { ...options, onStored })),
    send: (message, options) => send(scope, conversation, message, options),
    stop: (reason = "stopped by the person") =>
      stopTurn(scope, conversation, reason) ||
      withdrawHeld(conversation.messages, new MeanwhileError("closed", reason)),
    history: () => log.history,
    recall: (wanted) => log.recall(wanted),
    tools: () => offeredTools(scope, conversation),
    contextUsage: () => contextUsage(scope, conversation),
    turns: () => conversation.turns,
    state: () => readSessionState(scope, conversation),
    trajectory: createTrajectory(scope, conversation),
    enableReports: (options) => enableReports(scope, conversation, options),
    disableReports() {
      conversation.reporter?.close()
      conversation.reporter = null
    },
    settled: (signal) => settled(scope, conversation, signal),
    reported: async (signal) => conversation.reporter?.reported(signal),
    promote: () => promoteCalls(conversation.current),
    runCommand: (name, argument = "", options = {}) => {
      const { signal = NEVER, switchTo = null } = options
      return runCommand(scope, conversation, { name, argument, signal, switchTo })
    },
    collect: (reason = "it was asked for") => change(() => collect(scope, conversation, reason)),
    reset: () => change(() => log.write({ entries: [{ kind: "reset" }], data: toResetData(scope, conversation) })),
    setGc(plugin, config) {
      conversation.gc = plugin && { plugin, config: { ...DEFAULT_GC_CONFIG, ...config } }
    },
    setSessionPlugin: (plugin) => useSessionPlugin(scope, conversation, plugin),
    on: (listener) => emitter.on((event) => listener(event)),
    close,
    [Symbol.asyncDispose]: close,
  }
  return Object.assign(new SessionStanding(conversation), own)
}

/** A class: the getters of an object literal would keep every conversation in memory until the next full garbage collection. */
class SessionStanding implements Pick<Session, "model" | "isBusy"> {
  readonly #conversation: Conversation

  constructor(conversation: Conversation) {
    this.#conversation = conversation
  }

  get model(): string {
    return this.#conversation.model.id
  }

  get isBusy(): boolean {
    return this.#conversation.current !== null
  }
}

async function collect(scope: ConversationScope, conversation: Conversation, reason: string): Promise<string> {
  const save = conversation.log.write
  const collection = await collectContext(scope, conversation, { reason, signal: NEVER, act: actFreely, save })
  return collection?.summary ?? "There was nothing to collect."
}

/** With `keepsWork`, the session's tasks go on: it is only closed here, and goes on at the next start. */
export async function closeSession(
  scope: ConversationScope,
  conversation: Conversation,
  { keepsWork = false }: { readonly keepsWork?: boolean } = {},
): Promise<void> {
  const { log, sessionPlugin, emitter } = conversation
  await conversation.queue.done
  if (scope.open.get(log.id) !== conversation) return
  scope.open.remove(log.id)
  withdrawHeld(conversation.messages, toClosed(log.id))
  conversation.reporter?.close()
  try {
    if (log.data.turns > 0 && sessionPlugin?.onSessionEnded) {
      await sessionPlugin.onSessionEnded(await readSessionState(scope, conversation))
    }
    await log.paid.settle()
  } catch (error) {
    scope.log.warn("a session could not be saved at its end", { session: log.id, error: toErrorMessage(error) })
  }
  const last = log.history.at(-1)
  emitter.emit({ type: "agent.completed", text: last?.role === "assistant" ? textOf(last) : "" })
  if (!keepsWork || !log.isKept) await scope.runner.closeSession(log.id)
}

const DEFAULT_GC_CONFIG: GcConfig = { thresholdPercent: 75, targetPercent: 50 }

/** Promotes the calls that the turn waits for, as far as possible; returns their tasks. */
export async function promoteCalls(current: Conversation["current"]): Promise<readonly TaskId[]> {
  const promoted = await Promise.all([...(current?.executions ?? [])].map(promote))
  return promoted.flat()
}

async function promote(execution: Execution): Promise<readonly TaskId[]> {
  if (!(await execution.promote())) return []
  const answer = await execution.answer
  return answer.outcome === "promoted" ? [answer.task.id] : []
}
