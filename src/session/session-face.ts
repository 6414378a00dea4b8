import { MeanwhileError } from "../base/error.ts"
import { actFreely } from "../plugin/context.ts"
import { withdrawHeld } from "./turn/begin-when-free.ts"
import { type Conversation, inTurn, NEVER } from "./conversation/conversation.ts"
import { contextUsage, requireOpen, toldTools, toResetData } from "./conversation/context.ts"
import { createTrajectory } from "./results/trajectory.ts"
import { enableReports } from "./report/create-reporter.ts"
import { runCommand } from "./run-command.ts"
import type { ConversationScope } from "./conversation/scope.ts"
import { retryTurn } from "./turn/retry-turn.ts"
import { send, sendTyped } from "./turn/send.ts"
import type { SendOptions, Session, TurnResult, TypedSendOptions, TypedTurnResult } from "./conversation/session.ts"
import { readSessionState } from "./saved/session-state.ts"
import { useSessionPlugin } from "./saved/session-plugin.ts"
import { takeHandle } from "./session-handle.ts"
import { settled } from "./settled.ts"
import { stopTurn } from "./conversation/stop-turn.ts"
import { collectContext } from "./turn/collect-context.ts"
import { toTurn } from "./turn/turn-handle.ts"
import type { GcConfig } from "../plugin/gc-plugin.ts"
import type { Execution } from "../plugin/task-service.ts"
import type { TaskId } from "../task/id.ts"

/**
 * The session object that callers use: one of several handles of a conversation. It takes nothing more once it is closed, and
 * the conversation is closed with the last one.
 */
export function createSessionFace(scope: ConversationScope, conversation: Conversation): Session {
  const { log, emitter } = conversation
  const handle = takeHandle(scope, conversation)
  const { close, whileOpen } = handle
  function change<Result>(work: () => Promise<Result>): Promise<Result> {
    return inTurn(conversation, async () => {
      requireOpen(scope, conversation)
      return work()
    })
  }
  function sendMessage<Output>(message: string, options: TypedSendOptions<Output>): Promise<TypedTurnResult<Output>>
  function sendMessage(message: string, options?: SendOptions): Promise<TurnResult>
  async function sendMessage(
    message: string,
    options: SendOptions | TypedSendOptions<unknown> = {},
  ): Promise<TurnResult> {
    handle.requireOpen()
    const isTyped = "output" in options && options.output !== undefined
    return isTyped ? sendTyped(scope, conversation, message, options) : send(scope, conversation, message, options)
  }
  const own: Omit<Session, keyof SessionStanding> = {
    id: log.id,
    name: log.data.name,
    workspace: log.workspace,
    parent: log.data.parent,
    useModel: whileOpen(async (model) => {
      const connected = await scope.models.use(model)
      if (conversation.current) log.amend({ model })
      else await change(() => log.write({ entries: [], data: { model } }))
      conversation.model = connected
    }),
    start: whileOpen((message, options) => {
      requireUntyped(options)
      return toTurn(scope, conversation, (onStored) => send(scope, conversation, message, { ...options, onStored }))
    }),
    retry: whileOpen((options) =>
      toTurn(scope, conversation, (onStored) => retryTurn(scope, conversation, { ...options, onStored })),
    ),
    send: sendMessage,
    stop: (reason = "stopped by the person") =>
      !handle.isClosed() &&
      (stopTurn(scope, conversation, reason) ||
        withdrawHeld(conversation.messages, new MeanwhileError("closed", reason))),
    history: () => log.history,
    recall: (wanted) => log.recall(wanted),
    tools: () => toldTools(scope, conversation),
    contextUsage: () => contextUsage(scope, conversation),
    turns: () => conversation.turns,
    state: () => readSessionState(scope, conversation),
    trajectory: createTrajectory(scope, conversation),
    enableReports(options) {
      handle.requireOpen()
      enableReports(scope, conversation, options)
    },
    disableReports() {
      handle.requireOpen()
      conversation.reporter?.close()
      conversation.reporter = null
    },
    settled: (signal) => settled(scope, conversation, signal),
    reported: async (signal) => conversation.reporter?.reported(signal),
    promote: () => promoteCalls(conversation.current),
    runCommand: whileOpen((name, argument = "", options = {}) => {
      const { signal = NEVER, switchTo = null } = options
      return runCommand(scope, conversation, { name, argument, signal, switchTo })
    }),
    collect: whileOpen((reason = "it was asked for") => change(() => collect(scope, conversation, reason))),
    reset: whileOpen(() =>
      change(() => log.write({ entries: [{ kind: "reset" }], data: toResetData(scope, conversation) })),
    ),
    setGc(plugin, config) {
      handle.requireOpen()
      conversation.gc = plugin && { plugin, config: { ...DEFAULT_GC_CONFIG, ...config } }
    },
    setSessionPlugin: whileOpen((plugin) => useSessionPlugin(scope, conversation, plugin)),
    on: (listener) => handle.keep(emitter.on((event) => listener(event))),
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

/** A caller in JavaScript would take the answer for checked. */
function requireUntyped(options: SendOptions = {}): void {
  if (!("output" in options) || options.output === undefined) return
  const message = "start takes no `output`: a typed answer comes from send(message, { output })."
  throw new MeanwhileError("invalid_input", message, { option: "output" })
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
