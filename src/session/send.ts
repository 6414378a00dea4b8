import { context } from "@opentelemetry/api"
import { MeanwhileError, toErrorMessage } from "../base/error.ts"
import type { AgentEvent, OutputMode, OutputSource, TurnAccounting } from "../plugin/agent-event.ts"
import type { FilePart, Message } from "../plugin/message.ts"
import { enrichPrompt } from "../plugin/prompt-enrichment.ts"
import { afterContinued } from "./after-continued.ts"
import { type Conversation, inTurn } from "./conversation.ts"
import { requireOpen, toSessionInfo } from "./conversation-context.ts"
import { toErrorType } from "../runner/trace.ts"
import type { TaskId } from "../task/id.ts"
import { followModel } from "./follow-model.ts"
import type { SessionLog, TurnBeginning } from "./log/session-log.ts"
import { type PendingNotice, readPendingNotices, toNoticeText, useNotices } from "./pending-notices.ts"
import { requireContent, requireRoom, toUserMessage } from "./said-message.ts"
import type { AgentScope } from "./scope.ts"
import type { SendOptions, TurnResult } from "./session.ts"
import { beginTurnTrace, type TurnTrace } from "./telemetry.ts"
import { tellTurnCompleted } from "./tell-session-plugin.ts"
import { mendHistory } from "./turn/mend-history.ts"
import { takeTurn } from "./turn/take-turn.ts"
import { createTurnBudget, toBudgetMetadata } from "./turn/turn-budget.ts"

const TITLE_CHARACTERS = 80
const CUT_OFF = "The turn before was cut off before this call was answered."

/** One turn: the person's message, enriched, with what has ended meanwhile, to the model's last word. */
export function send(
  scope: AgentScope,
  conversation: Conversation,
  message: string,
  options: SendOptions = {},
): Promise<TurnResult> {
  const begin = () => inTurn(conversation, () => sendNow(scope, conversation, message, options))
  return afterContinued(scope, conversation, begin, options.signal)
}

async function sendNow(
  scope: AgentScope,
  conversation: Conversation,
  message: string,
  options: SendOptions,
): Promise<TurnResult> {
  scope.closing.throwIfAborted()
  requireOpen(scope, conversation)
  options.signal?.throwIfAborted()
  requireContent(message, options)
  const unsubscribe = options.onOutput ? conversation.emitter.on(toOutput(conversation, options.onOutput)) : undefined
  const abort = new AbortController()
  const current = { abort, taskId: null, reason: null as string | null }
  conversation.current = current
  const stop = (): void => void stopTurn(scope, conversation, toErrorMessage(options.signal?.reason))
  options.signal?.addEventListener("abort", stop, { once: true })
  try {
    const text = await takeTraced(scope, conversation, message, options)
    const accounting = conversation.turns.at(-1)
    if (!accounting) throw new MeanwhileError("wrong_state", "The turn ended without an account.")
    await tellTurnCompleted(scope, conversation)
    return toTurnResult(text, accounting)
  } finally {
    conversation.current = null
    options.signal?.removeEventListener("abort", stop)
    unsubscribe?.()
  }
}

/** Stops the turn that runs, wherever it is. False when there is none. */
export function stopTurn(scope: AgentScope, conversation: Conversation, reason: string): boolean {
  const { current, log } = conversation
  if (!current) return false
  current.reason ??= reason
  current.abort.abort(new MeanwhileError("closed", reason))
  if (current.taskId) void cancelTurn(scope, log, current.taskId, reason)
  return true
}

/** Resolves when the stop is accepted. */
async function cancelTurn(scope: AgentScope, log: SessionLog, turn: TaskId, reason: string): Promise<void> {
  try {
    await scope.runner.cancel(turn, { by: "person", reason }, log.workspace)
  } catch (error) {
    scope.log.warn("a turn could not be stopped", { turn, error: toErrorMessage(error) })
  }
}

/** Its span begins before its record, so that the record can name the trace. */
async function takeTraced(
  scope: AgentScope,
  conversation: Conversation,
  message: string,
  options: SendOptions,
): Promise<string> {
  const trace = beginTurnTrace(conversation, options.traceId)
  try {
    return await context.with(trace.context, () => take(scope, conversation, trace, message, options))
  } catch (error) {
    trace.end({}, toErrorType(error))
    throw error
  }
}

async function take(
  scope: AgentScope,
  conversation: Conversation,
  trace: TurnTrace,
  message: string,
  options: SendOptions,
): Promise<string> {
  const { log, current } = conversation
  await log.refresh()
  await followModel(scope, conversation)
  const prompt = await enrich(scope, conversation, message)
  let stopping: Promise<void> | undefined
  return log.turn({
    toBeginning: (history) => toBeginning(scope, conversation, history, { prompt, files: options.files ?? [] }),
    title: toTitle(message),
    parentTask: options.parentTask ?? null,
    traceId: trace.traceId,
    ...(options.idempotencyKey !== undefined && { idempotencyKey: options.idempotencyKey }),
    metadata: toBudgetMetadata(options.budget),
    onBegun(taskId) {
      if (!current) return
      current.taskId = taskId
      // It was stopped while it began.
      if (taskId && current.reason !== null) stopping = cancelTurn(scope, log, taskId, current.reason)
    },
    async take(turn) {
      if (stopping) await stopping
      const { budget: left } = options
      return takeTurn(scope, conversation, turn, trace, left ? createTurnBudget({ left, clock: scope.clock }) : null)
    },
  })
}

/** What was said, with what has ended meanwhile before it. */
async function toBeginning(
  scope: AgentScope,
  conversation: Conversation,
  history: readonly Message[],
  { prompt, files }: { readonly prompt: string; readonly files: readonly FilePart[] },
): Promise<TurnBeginning> {
  const toSaid = (told: readonly PendingNotice[]): Message => toUserMessage([toNoticeText(told), prompt], files)
  const pending = await readPendingNotices(scope, conversation)
  requireRoom(scope, conversation, toSaid(pending))
  const told = conversation.log.isKept ? pending : await useNotices(scope, pending)
  const messages = [...mendHistory(history, CUT_OFF), toSaid(told)]
  const entries = messages.map((message) => ({ kind: "message", message, turn: null }) as const)
  return { entries, notices: told.map(({ key }) => key) }
}

async function enrich(scope: AgentScope, conversation: Conversation, message: string): Promise<string> {
  const enrichers = scope.registry.promptEnrichers(conversation.model.id)
  if (enrichers.length === 0) return message
  const session = toSessionInfo(conversation)
  const { prompt, failures } = await enrichPrompt(enrichers, message, { session })
  for (const [plugin, error] of Object.entries(failures)) scope.log.warn("a prompt was not enriched", { plugin, error })
  return prompt
}

function toTurnResult(text: string, accounting: TurnAccounting): TurnResult {
  const outcome = accounting.outcome === "completed" ? "completed" : "stopped"
  return { turn: accounting.turn, outcome, text, accounting }
}

/** What this agent itself says; deltas of a text come before the text as a whole, which is then not repeated. */
function toOutput({ log }: Conversation, onOutput: NonNullable<SendOptions["onOutput"]>) {
  let hasDeltas = false
  let speaker: OutputSource | null = null
  const tell = (source: OutputSource, text: string, mode: OutputMode): void => {
    onOutput(source, text, source === speaker ? mode : "write")
    speaker = source
  }
  return (event: AgentEvent): void => {
    if (event.agent !== log.id) return
    if (event.type === "content.delta") {
      tell(event.source, event.text, "append")
      hasDeltas ||= event.source === "model"
    } else if (event.type === "agent.output") {
      if (event.source !== "model" || !hasDeltas) tell(event.source, event.text, event.mode)
      if (event.source === "model") endText()
    } else if (event.type === "content.reset") {
      endText()
    }
  }
  function endText(): void {
    hasDeltas = false
    speaker = null
  }
}

function toTitle(message: string): string {
  const line = message.replace(/\s+/g, " ").trim()
  return line.length > TITLE_CHARACTERS ? `${line.slice(0, TITLE_CHARACTERS - 1)}…` : line || "(empty message)"
}
