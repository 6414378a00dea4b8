import { isMeanwhileError } from "../../base/error.ts"
import { callsOf, type Message, textOf } from "../../plugin/message.ts"
import type { Usage } from "../../task/progress.ts"
import { collectContext } from "./collect-context.ts"
import { answerCalls, leaveUntried } from "./answer-calls.ts"
import {
  callModel,
  type CallOptions,
  createPartialAnswer,
  type ModelAnswer,
  type PartialAnswer,
  requireWhole,
} from "./call-model.ts"
import { toOnCrash, toStepKey } from "./call-step.ts"
import { findOver, tellBudgetEnd } from "./budget-end.ts"
import { saveSoon, settle, type TurnScope } from "./turn-scope.ts"

/** The end of a turn. */
export interface TurnEnd {
  readonly message: Message
  readonly answer: ModelAnswer
}

/**
 * The loop: ask the model, run what it calls, ask again, until it answers without a call. The history is the state:
 * where the loop begins follows from its last message, so that a turn goes on after a crash as if nothing had been.
 */
export async function runTurn(scope: TurnScope, partial: PartialAnswer): Promise<TurnEnd> {
  const { log } = scope.conversation
  const { maxStepsPerTurn } = scope.agents.config
  const left = scope.turn.isContinued ? log.history.at(-1) : undefined
  for (;;) {
    const last = log.history.at(-1)
    const hasCalls = last?.role === "assistant" && callsOf(last).length > 0
    if (hasCalls && last !== left && scope.turn.isHandedBack()) leaveUntried(scope, last, log.position)
    scope.turn.signal.throwIfAborted()
    if (hasCalls) {
      await settle(scope)
      await answerCalls(scope, last, { position: log.position, isLeft: last === left })
      continue
    }
    await collect(scope)
    const over = findOver(scope)
    if (over !== null) await tellBudgetEnd(scope, over)
    const hasTools = over === null && scope.account.modelCalls + 1 < maxStepsPerTurn
    const answer = await askInTime(scope, { hasTools, partial, signal: toSignal(scope, over) })
    if (!answer) continue
    if (callsOf(answer.message).length === 0) return { message: answer.message, answer }
    payUnlessWhole(scope, answer)
    Object.assign(partial, createPartialAnswer())
    await keepAnswer(scope, answer)
  }
}

/** An answer that nothing can be made of has cost something all the same. */
function payUnlessWhole({ conversation, turn }: TurnScope, answer: ModelAnswer): void {
  try {
    requireWhole(answer)
  } catch (error) {
    const { model, usage, costMicros } = answer.record
    conversation.log.pay({ turn: turn.taskId, task: turn.askedBy, model, usage, costMicros, purpose: "turn" })
    throw error
  }
}

/** The last call has the time it takes. */
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
    const collected = await collect(scope, "the model says that the context is full")
    if (!collected) throw error
    return callModel(scope, options)
  }
}

async function collect(scope: TurnScope, reason?: string): Promise<boolean> {
  const { agents, conversation, turn } = scope
  const collection = await collectContext(agents, conversation, {
    ...(reason && { reason }),
    signal: turn.signal,
    traceId: turn.traceId,
    task: turn.askedBy,
    save: (change) => turn.save(change),
  })
  return collection !== null
}

/** With the beginning of every call it asks for: from here on a crash finds them in flight. */
async function keepAnswer(scope: TurnScope, { message, record }: ModelAnswer): Promise<void> {
  const { conversation, turn } = scope
  const { log, emitter } = conversation
  const position = log.nextPosition
  const started = callsOf(message).map((call) => ({ key: toStepKey(position, call), onCrash: toOnCrash(scope, call) }))
  const measured = toMeasured(scope, record)
  saveSoon(scope, {
    entries: [{ kind: "message", message, turn: turn.taskId, call: record }],
    data: { measured },
    started,
    spent: toSpent(record),
  })
  const text = textOf(message)
  if (text !== "") emitter.emit({ type: "agent.output", source: "model", text, mode: "write" })
}

export function toSpent({ usage, costMicros }: ModelAnswer["record"]): Usage {
  return { tokens: usage.inputTokens + usage.outputTokens, costMicros: costMicros ?? 0 }
}

/** The context with the answer in it, as the provider counts it. */
export function toMeasured({ conversation }: TurnScope, { usage }: ModelAnswer["record"]) {
  return { tokens: usage.inputTokens + usage.outputTokens, messages: conversation.log.history.length + 1 }
}
