import { MeanwhileError, isMeanwhileError } from "../../base/error.ts"
import { unlessAborted } from "../../base/unless-aborted.ts"
import { callsOf, type Message } from "../../plugin/message.ts"
import type { ModelRequest } from "../../plugin/model.ts"
import { addTokens } from "../../plugin/token-usage.ts"
import { offeredTools, systemPrompt } from "../conversation/context.ts"
import { type Generated, generate, recordCall } from "../conversation/model-call.ts"
import { type ModelCallRecord, NO_ANSWER } from "../log/log-entry.ts"
import type { OpenTurn } from "../log/session-log.ts"
import type { TurnScope } from "./turn-scope.ts"

type Answer = Extract<Message, { role: "assistant" }>

export interface ModelAnswer {
  readonly message: Answer
  readonly record: ModelCallRecord
}

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
    return generate(conversation, scope.trace, toRequest(scope, options))
  })
  // A worker that was taken over meanwhile hears no answer: another one asks the model again.
  return scope.turn.act(() => {
    const { response } = generated
    const record = account(scope, generated)
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

function mayPass(error: unknown): error is MeanwhileError {
  return isMeanwhileError(error, "rate_limited") || isMeanwhileError(error, "model_unavailable")
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
  const { maxOutputTokens, temperature } = services.config.agent
  const { emitter } = conversation
  return {
    system: systemPrompt(services, conversation),
    messages: conversation.log.history,
    tools: hasTools ? offeredTools(services, conversation) : [],
    signal,
    ...(maxOutputTokens !== null && { maxOutputTokens }),
    ...(temperature !== null && { temperature }),
    onDelta: whileOurs(turn, ({ type, text }) => {
      if (signal.aborted) return
      if (type === "text") partial.text += text
      partial.isTold = true
      emitter.emit({ type: "content.delta", source: type === "text" ? "model" : type, text })
    }),
  }
}

/** Passes on at once what streams in. While it is in doubt whose the turn is, holds it back, in order. */
function whileOurs<Delta>({ act }: OpenTurn, tell: (delta: Delta) => void): (delta: Delta) => void {
  const held: Delta[] = []
  let isAsking = false
  return (delta) => {
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
  const { costMicros } = recordCall(services, conversation, call, { isLast })
  scope.account.modelCalls += 1
  scope.account.usage = addTokens(scope.account.usage, usage)
  if (scope.account.costMicros !== null) {
    scope.account.costMicros = costMicros === null ? null : scope.account.costMicros + costMicros
  }
  return { model, usage, costMicros, finish, ...(askedBy && { task: askedBy }) }
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
