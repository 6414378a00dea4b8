import { MeanwhileError, isMeanwhileError } from "../../base/error.ts"
import { unlessAborted } from "../../base/unless-aborted.ts"
import { callsOf, type Message } from "../../plugin/message.ts"
import type { ModelRequest, ToolChoice } from "../../plugin/model.ts"
import { addTokens } from "../../plugin/token-usage.ts"
import { systemPrompt, toldTools } from "../conversation/context.ts"
import { type Generated, generate, recordCall, type UnansweredCall } from "../conversation/model-call.ts"
import { type ModelCallRecord, NO_ANSWER, type PaidCall } from "../log/log-entry.ts"
import type { OpenTurn } from "../log/session-log.ts"
import { settingsOf } from "./turn-ask.ts"
import type { ModelAnswer, TurnScope } from "./turn-scope.ts"

type Answer = Extract<Message, { role: "assistant" }>

/** The model's text so far, in case its call is cut off. */
export interface PartialAnswer {
  text: string
  /** True once some of the answer, text or reasoning, was streamed to listeners. */
  isTold: boolean
}

export interface CallOptions {
  readonly hasTools: boolean
  readonly partial: PartialAnswer
  /** Also aborts when the turn's signal does. */
  readonly signal: AbortSignal
}

export function createPartialAnswer(): PartialAnswer {
  return { text: "", isTold: false }
}

/** Gets one answer of the model, with retries after errors that may pass. */
export async function callModel(scope: TurnScope, options: CallOptions): Promise<ModelAnswer> {
  const { services, conversation } = scope
  const { hasTools, partial } = options
  const generated = await withRetries(scope, () => {
    if (partial.isTold) conversation.emitter.emit({ type: "content.reset", reason: "the call is made again" })
    Object.assign(partial, createPartialAnswer())
    const onUnanswered = (call: UnansweredCall): void => accountUnanswered(scope, call)
    return generate(conversation, toRequest(scope, options), { parent: scope.trace, onUnanswered })
  })
  // A worker that was taken over meanwhile hears no answer: another one asks the model again.
  return scope.turn.act(() => {
    const message = scope.ask.output?.toAnswer(generated.response.message) ?? generated.response.message
    const response = { ...generated.response, message }
    const record = account(scope, { ...generated, response })
    for (const warning of response.warnings ?? []) services.log.warn("the model's provider says", { warning })
    return { message: toUsableMessage(response.message, hasTools), record }
  })
}

/** Makes the call again while its error may pass: a rate limit, an overloaded or unreachable provider. */
async function withRetries<Result>(scope: TurnScope, call: () => Promise<Result>): Promise<Result> {
  const config = scope.services.config.agent
  for (let attempt = 1; ; attempt++) {
    try {
      return await scope.turn.act(call)
    } catch (error) {
      scope.turn.signal.throwIfAborted()
      if (!mayPass(error) || attempt > config.maxModelRetries) throw error
      const afterMs = toDelayMs(scope, error, attempt)
      if (afterMs > config.maxModelRetryWaitSeconds * 1_000) throw error
      const reason = error.message
      scope.conversation.emitter.emit({ type: "model_call.retried", attempt, afterMs, reason })
      await wait(scope, afterMs)
    }
  }
}

/** A provider that stalled has had its time. */
function mayPass(error: unknown): error is MeanwhileError {
  if (isMeanwhileError(error, "model_unavailable")) return error.details["stalledMs"] === undefined
  return isMeanwhileError(error, "rate_limited")
}

/**
 * The delay that the provider asks for, else a back-off that doubles, with jitter so that many agents do not retry at once.
 */
function toDelayMs({ services }: TurnScope, error: MeanwhileError, attempt: number): number {
  const asked = error.details["retryAfterMs"]
  if (typeof asked === "number" && asked >= 0) return Math.ceil(asked)
  const { modelRetryBaseSeconds, maxModelRetryWaitSeconds } = services.config.agent
  const doubled = modelRetryBaseSeconds * 1_000 * 2 ** (attempt - 1)
  const spread = 0.5 + Math.random() / 2
  return Math.ceil(Math.min(doubled, maxModelRetryWaitSeconds * 1_000) * spread)
}

async function wait({ services, turn }: TurnScope, delayMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const cancelTimer = services.clock.schedule(delayMs, resolve)
  try {
    // A listener may have stopped the turn when it heard of the retry.
    await unlessAborted(turn.signal, promise)
  } finally {
    cancelTimer()
  }
}

function toRequest(scope: TurnScope, { hasTools, partial, signal }: CallOptions): ModelRequest {
  const { services, conversation, turn } = scope
  const { maxSteps: _, toolChoice: choice, ...settings } = settingsOf(services, conversation, scope.ask)
  const { emitter, model } = conversation
  const tools = hasTools ? toldTools(services, conversation) : []
  const toolChoice = choice && mayStillForce(scope, choice) ? choice : undefined
  const plain = { tools, ...(toolChoice && { toolChoice }) }
  return {
    system: systemPrompt(services, conversation),
    messages: conversation.log.history,
    ...(scope.ask.output?.toAsked(model, plain) ?? plain),
    signal,
    ...settings,
    onDelta: whileOurs(turn, ({ type, text }) => {
      if (signal.aborted) return
      if (type === "text") partial.text += text
      partial.isTold = true
      emitter.emit({ type: "content.delta", source: type === "text" ? "model" : type, text })
    }),
  }
}

/** A tool that must be called was called by the turn's first answer: to force it again would never end the turn. */
function mayStillForce({ account: { modelCalls }, conversation, turn }: TurnScope, choice: ToolChoice): boolean {
  if (choice === "auto" || choice === "none") return true
  if (!turn.isContinued) return modelCalls === 0
  return !conversation.log.history.slice(-2).some(({ role }) => role === "tool")
}

/** Passes on at once what streams in. While it is in doubt whose the turn is, holds it back, in order. */
function whileOurs<Delta>({ act, mayAct }: OpenTurn, tell: (delta: Delta) => void): (delta: Delta) => void {
  const held: Delta[] = []
  let isAsking = false
  return (delta) => {
    if (held.length === 0 && mayAct()) return tell(delta)
    held.push(delta)
    if (isAsking) return
    isAsking = true
    const told = act(() => {
      isAsking = false
      for (const each of held.splice(0)) tell(each)
    })
    told.catch(() => {
      isAsking = false
    })
  }
}

/** Counts the call in the ledger and in the turn's account. */
function account(scope: TurnScope, { response, model }: Generated): ModelCallRecord {
  const { services, conversation, turn } = scope
  const { usage, finish } = response
  const { id, askedBy } = turn
  const call = { turn: id, task: askedBy, model, usage, purpose: "turn" } as const
  const isLast = callsOf(response.message).length === 0
  const entry = recordCall(services, conversation, call, { isLast })
  scope.account.modelCalls += 1
  addToAccount(scope, entry)
  return { model, usage, costMicros: entry.costMicros, finish, ...(askedBy && { task: askedBy }) }
}

/**
 * Counts a call without an answer. It is stored with the turn's next change. A call that another worker makes again is
 * counted there, as lost.
 */
function accountUnanswered(scope: TurnScope, unanswered: UnansweredCall): void {
  const { services, conversation, turn } = scope
  if (turn.isHandedBack() || isMeanwhileError(turn.signal.reason, "stale_claim")) return
  const call = { turn: turn.id, task: turn.askedBy, purpose: "turn", ...unanswered } as const
  const entry = recordCall(services, conversation, call)
  conversation.log.paid.add(entry)
  addToAccount(scope, entry)
}

function addToAccount({ account: total }: TurnScope, { usage, costMicros }: PaidCall): void {
  total.usage = addTokens(total.usage, usage)
  if (total.costMicros !== null) total.costMicros = costMicros === null ? null : total.costMicros + costMicros
}

/** Refuses a call that the model did not finish. The answer is paid for before. */
export function refuseCutCall({ conversation, turn }: TurnScope, { message, record }: ModelAnswer): void {
  const { model, usage, costMicros, finish } = record
  if (finish !== "length" || callsOf(message).length === 0) return
  conversation.log.paid.add({ turn: turn.id, task: turn.askedBy, model, usage, costMicros, purpose: "turn" })
  const text = `${model} reached its longest answer in the middle of a tool call. Raise agent.maxOutputTokens.`
  throw new MeanwhileError("model_refused", text)
}

/**
 * The answer in a form that every provider takes back: not empty, and no two calls with the same id. Calls of a model that
 * was offered no tools are left out, because nobody answers them.
 */
function toUsableMessage(message: Answer, mayCall: boolean): Answer {
  const parts = message.parts.filter((part) =>
    part.type === "text" ? part.text !== "" : part.type !== "call" || mayCall,
  )
  const isTelling = parts.some((part) => part.type !== "reasoning")
  if (!isTelling) return { role: "assistant", parts: [...parts, { type: "text", text: NO_ANSWER }] }
  const ids = callsOf(message).map(({ id }) => id)
  const areUnique = new Set(ids).size === ids.length && !ids.includes("")
  if (areUnique) return parts.length === message.parts.length ? message : { role: "assistant", parts }
  const seen = new Set<string>()
  return {
    role: "assistant",
    parts: parts.map((part) => {
      if (part.type !== "call") return part
      const id = part.id !== "" && !seen.has(part.id) ? part.id : `call_${crypto.randomUUID().replaceAll("-", "")}`
      seen.add(id)
      return { ...part, id }
    }),
  }
}
