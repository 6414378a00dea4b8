import { isMeanwhileError, toErrorMessage } from "../../base/error.ts"
import type { TurnOutcome } from "../../plugin/agent-event.ts"
import { textOf, callsOf } from "../../plugin/message.ts"
import { NO_TOKENS } from "../../plugin/token-usage.ts"
import type { Conversation } from "../conversation/conversation.ts"
import { contextUsage } from "../conversation/context.ts"
import type { OpenTurn, TurnChange } from "../log/session-log.ts"
import { toErrorType } from "../../runner/run/trace.ts"
import { readReportMark } from "./report-mark.ts"
import { beginTurnTrace, toUsageAttributes, type TurnTrace } from "../conversation/telemetry.ts"
import { createPartialAnswer, type PartialAnswer, callModel, type CallOptions, refuseCutCall } from "./call-model.ts"
import { closeStopped, mendHistory, unansweredCalls } from "./tool-answer.ts"
import { readAskMetadata, settingsOf, type TurnAsk } from "./turn-ask.ts"
import { type TurnBudget, findOver, tellBudgetEnd } from "./turn-budget.ts"
import { findProblem, toAgain } from "./check-answer.ts"
import type { ModelAnswer, TurnScope, TurnServices } from "./turn-scope.ts"
import { recordCall } from "../conversation/model-call.ts"
import { markClosing } from "../log/closing-message.ts"
import { collectContext, type CollectOptions } from "./collect-context.ts"
import { answerCalls, leaveUntried } from "./answer-calls.ts"
import { toOnCrash, toStepKey } from "./call-step.ts"

const MOST_ACCOUNTS = 1_000

interface TurnParts {
  readonly trace?: TurnTrace
  readonly budget?: TurnBudget | null
  /** Default: what the turn's metadata says. */
  readonly ask?: TurnAsk | undefined
}

/** Takes a turn that has begun, or goes on with one, to its end. Returns the last text of the model. */
export async function takeTurn(
  services: TurnServices,
  conversation: Conversation,
  turn: OpenTurn,
  parts: TurnParts = {},
): Promise<string> {
  const { emitter } = conversation
  const { trace = beginTurnTrace(conversation, turn.traceId), budget = null } = parts
  const { ask = readAskMetadata(turn.metadata) } = parts
  const startedMs = services.clock.monotonic()
  const account = {
    startedMs,
    modelCalls: 0,
    toolCalls: 0,
    usage: NO_TOKENS,
    costMicros: 0,
    isAskedAgain: false,
    refused: null,
  }
  const hops = readReportMark(turn.metadata)?.hops ?? 0
  const scope: TurnScope = { services, conversation, turn, trace, account, budget, ask, hops }
  if (conversation.current) conversation.current.budget = budget
  // Releases calls that wait for tasks: there is no time left.
  budget?.timeOver.addEventListener("abort", () => conversation.messages.newMessage.abort())
  const partial = createPartialAnswer()
  emitter.emit({ type: "agent.status_changed", status: "active" })
  try {
    if (turn.isContinued) await noteLostCall(scope)
    const answer = await trace.within(() => runTurn(scope, partial))
    // Changes that are still being saved are committed before the end, or neither is.
    end(scope, toChange(scope, answer))
    const text = textOf(answer.message)
    emitter.emit({ type: "agent.output", source: "model", text, mode: "write" })
    tell(scope, "completed")
    endTrace(scope)
    return text
  } catch (error) {
    endTrace(scope, error)
    // The handoff looks at steps in flight: finished ones must be saved first.
    if (turn.isHandedBack()) await turn.settle().catch(() => {})
    return leave(scope, partial, error)
  } finally {
    budget?.close()
    if (conversation.current) conversation.current.budget = null
  }
}

/**
 * The loop: ask the model, run what it calls, ask again, until it answers without a call. The history is the state: where
 * the loop begins follows from its last message, so that a turn goes on after a crash as if nothing had happened.
 */
async function runTurn(scope: TurnScope, partial: PartialAnswer): Promise<ModelAnswer> {
  const { log } = scope.conversation
  const { maxSteps } = settingsOf(scope.services, scope.conversation, scope.ask)
  const left = scope.turn.isContinued ? log.history.at(-1) : undefined
  for (;;) {
    const last = log.history.at(-1)
    const hasCalls = last?.role === "assistant" && callsOf(last).length > 0
    if (hasCalls && last !== left && scope.turn.isHandedBack()) leaveUntried(scope, last, log.position)
    scope.turn.signal.throwIfAborted()
    if (hasCalls) {
      await scope.turn.settle()
      await answerCalls(scope, last, { position: log.position, isLeft: last === left })
      continue
    }
    await collect(scope)
    const over = scope.budget && findOver(scope.budget, log.history)
    if (over !== null) await tellBudgetEnd(scope.turn, log.history, over)
    const hasTools = over === null && scope.account.modelCalls + 1 < maxSteps
    const answer = await askInTime(scope, { hasTools, partial, signal: toSignal(scope, over) })
    if (!answer) continue
    const problem = callsOf(answer.message).length === 0 ? await findProblem(scope, answer) : undefined
    if (problem === null) return answer
    if (problem !== undefined) {
      const again = toAgain(scope, answer, problem)
      const change = toChange(scope, answer)
      // Together: a history that ends with an answer is one that no provider goes on with.
      await scope.turn.save({ ...change, entries: [...change.entries, again] })
      continue
    }
    refuseCutCall(scope, answer)
    Object.assign(partial, createPartialAnswer())
    await keepAnswer(scope, answer)
  }
}

/** The last call, made when the budget is used up, has no time limit. */
function toSignal({ turn, budget }: TurnScope, over: string | null): AbortSignal {
  return budget && over === null ? AbortSignal.any([turn.signal, budget.timeOver]) : turn.signal
}

/** Null when the turn's time was over before the model had answered. */
async function askInTime(scope: TurnScope, options: CallOptions): Promise<ModelAnswer | null> {
  try {
    return await askModel(scope, options)
  } catch (error) {
    scope.turn.signal.throwIfAborted()
    if (options.signal.aborted) return null
    throw error
  }
}

/** When the context turns out to be too small after all, it is collected once and the model asked again. */
async function askModel(scope: TurnScope, options: CallOptions): Promise<ModelAnswer> {
  try {
    return await callModel(scope, options)
  } catch (error) {
    if (!isMeanwhileError(error, "context_overflow")) throw error
    const collected = await collect(scope, { reason: "the model says that the context is full", isFull: true })
    if (!collected) throw error
    return callModel(scope, options)
  }
}

async function collect(scope: TurnScope, asked: Pick<CollectOptions, "reason" | "isFull"> = {}): Promise<boolean> {
  const { services, conversation, turn } = scope
  const collection = await collectContext(services, conversation, {
    ...asked,
    signal: turn.signal,
    act: turn.act,
    traceId: turn.traceId,
    task: turn.askedBy,
    save: (change) => turn.save(change),
  })
  return collection !== null
}

/** Saves the answer, and each call that it asks for as begun: a crash from here on finds the calls in flight. */
async function keepAnswer(scope: TurnScope, answer: ModelAnswer): Promise<void> {
  const { conversation, turn } = scope
  const { log, emitter } = conversation
  const { message } = answer
  const position = log.position + log.paid.count() + 1
  const started = callsOf(message).map((call) => ({ key: toStepKey(position, call), onCrash: toOnCrash(scope, call) }))
  turn.saveSoon({ ...toChange(scope, answer), started })
  const text = textOf(message)
  if (text !== "") emitter.emit({ type: "agent.output", source: "model", text, mode: "write" })
}

/** The change for an answer: its message, what it cost, and the size of the context with it, as the provider counts it. */
function toChange({ conversation, turn }: TurnScope, { message, record }: ModelAnswer): TurnChange {
  const tokens = record.usage.inputTokens + record.usage.outputTokens
  return {
    entries: [{ kind: "message", message, turn: turn.id, call: record }],
    data: { measured: { tokens, messages: conversation.log.history.length + 1 } },
    spent: { tokens, costMicros: record.costMicros ?? 0 },
  }
}

/** Leaves a turn without an answer: it was stopped, another worker has it, it goes on at the next start, or it failed. */
function leave(scope: TurnScope, partial: PartialAnswer, error: unknown): string {
  const { turn, conversation } = scope
  const { history } = conversation.log
  const lost = findLoss(turn, error)
  if (turn.isHandedBack() || lost) {
    const reason = turn.isHandedBack() ? "the turn goes on at the next start" : "the turn goes on in another process"
    conversation.emitter.emit({ type: "agent.status_changed", status: "done", reason })
    throw lost ?? error
  }
  if (turn.signal.aborted) {
    end(scope, toClosing(scope, closeStopped(history, { partialText: partial.text, turn: turn.id })))
    const { text } = partial
    if (text !== "") conversation.emitter.emit({ type: "agent.output", source: "model", text, mode: "write" })
    tell(scope, "stopped")
    return text
  }
  const { refused } = scope.account
  const mended = mendHistory(history, "The turn failed before it was answered.")
  const closing = refused && { ...refused, message: markClosing(refused.message, turn.id) }
  end(scope, closing ? toChange(scope, closing) : toClosing(scope, mended))
  tell(scope, "failed", toErrorMessage(error))
  throw error
}

/** The error that says that another worker has the turn: it is thrown here, or is the reason of the turn's abort. */
function findLoss({ signal }: OpenTurn, error: unknown): unknown {
  return [error, signal.reason as unknown].find((each) => isMeanwhileError(each, "stale_claim"))
}

function end({ turn, conversation }: TurnScope, { entries, data, spent }: TurnChange): void {
  turn.finish({ entries, spent, data: { ...data, turn: null, turns: conversation.log.data.turns + 1 } })
}

function toClosing({ turn }: TurnScope, messages: ReturnType<typeof mendHistory>): TurnChange {
  return { entries: messages.map((message) => ({ kind: "message", message, turn: turn.id })) }
}

function tell(scope: TurnScope, outcome: TurnOutcome, reason?: string): void {
  const { services, conversation, turn, account } = scope
  const { emitter, log, model, turns } = conversation
  const { startedMs, isAskedAgain: _, refused: __, ...used } = account
  const durationMs = services.clock.monotonic() - startedMs
  const accounting = { turn: turn.id, outcome, model: model.id, ...used, durationMs }
  turns.push(accounting)
  if (turns.length > MOST_ACCOUNTS) turns.shift()
  emitter.emit({ type: "turn.completed", accounting })
  if (emitter.hears("context.updated")) {
    emitter.emit({ type: "context.updated", usage: contextUsage(services, conversation) })
  }
  emitter.emit({ type: "history.updated", messages: log.history })
  const status = outcome === "failed" ? "error" : "done"
  emitter.emit({ type: "agent.status_changed", status, ...(reason && { reason }) })
}

/** A turn that somebody stopped, or that goes on elsewhere, has not failed. */
function endTrace({ trace, turn, account }: TurnScope, error?: unknown): void {
  const hasFailed = error !== undefined && !turn.signal.aborted && !turn.isHandedBack()
  const attributes = { ...toUsageAttributes(account.usage), ...(turn.taskId && { "meanwhile.task.id": turn.taskId }) }
  trace.end(attributes, hasFailed ? toErrorType(error) : undefined)
}

/**
 * Records the cost of the model call that was in flight when the turn's worker ended. The call is made again, and both cost
 * something. If the answers before that call were not durable, it is not known here: the log ends before them. The record
 * is durable before the call is made again, because that one may be lost too.
 */
async function noteLostCall(scope: TurnScope): Promise<void> {
  const { services, conversation, turn } = scope
  const { log, emitter, model } = conversation
  if (unansweredCalls(log.history).length > 0) return
  const usage = { ...NO_TOKENS, inputTokens: contextUsage(services, conversation).usedTokens }
  const call = {
    turn: turn.id,
    task: turn.askedBy,
    model: model.id,
    usage,
    purpose: "lost",
    isEstimated: true,
  } as const
  const entry = recordCall(services, conversation, call)
  await turn.save({ entries: [{ kind: "paid", entry }] })
  emitter.emit({ type: "content.reset", reason: "the turn goes on after an interruption" })
}
