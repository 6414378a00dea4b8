import { MeanwhileError } from "../../base/error.ts"
import { callsOf, type Message } from "../../plugin/message.ts"
import type { ModelRequest } from "../../plugin/model.ts"
import { addTokens } from "../../plugin/token-usage.ts"
import { offeredTools, systemPrompt } from "../conversation/context.ts"
import { type Generated, generate } from "../conversation/generate.ts"
import type { ModelCallRecord } from "../log/log-entry.ts"
import { toCostMicros } from "../model/model-cost.ts"
import { recordCall } from "../conversation/record-call.ts"
import { withRetries } from "./retry-model.ts"
import type { TurnScope } from "./turn-scope.ts"

export interface ModelAnswer {
  readonly message: Extract<Message, { role: "assistant" }>
  readonly record: ModelCallRecord
}

/** The model's text so far, in case its call is cut off. */
export interface PartialAnswer {
  text: string
  /** Some of it, text or reasoning, was streamed to whoever listens. */
  isTold: boolean
}

export function createPartialAnswer(): PartialAnswer {
  return { text: "", isTold: false }
}

export interface CallOptions {
  readonly hasTools: boolean
  readonly partial: PartialAnswer
  /** Also aborts with the turn's. */
  readonly signal: AbortSignal
}

/** Asks the model once, with as many attempts as errors that may pass are worth. */
export async function callModel(scope: TurnScope, options: CallOptions): Promise<ModelAnswer> {
  const { agents, conversation } = scope
  const { hasTools, partial } = options
  const generated = await withRetries(scope, () => {
    if (partial.isTold) conversation.emitter.emit({ type: "content.reset", reason: "the call is made again" })
    Object.assign(partial, createPartialAnswer())
    return generate(conversation, scope.trace, toRequest(scope, options))
  })
  const { response } = generated
  const record = account(scope, generated)
  for (const warning of response.warnings ?? []) agents.log.warn("the model's provider says", { warning })
  return { message: toUsableMessage(response.message, hasTools), record }
}

function toRequest(scope: TurnScope, { hasTools, partial, signal }: CallOptions): ModelRequest {
  const { agents, conversation } = scope
  const { maxOutputTokens, temperature } = agents.config
  const { emitter } = conversation
  return {
    system: systemPrompt(agents, conversation),
    messages: conversation.log.history,
    tools: hasTools ? offeredTools(agents, conversation) : [],
    signal,
    ...(maxOutputTokens !== null && { maxOutputTokens }),
    ...(temperature !== null && { temperature }),
    onDelta({ type, text }) {
      if (signal.aborted) return
      if (type === "text") partial.text += text
      partial.isTold = true
      emitter.emit({ type: "content.delta", source: type === "text" ? "model" : type, text })
    },
  }
}

/** Into the ledger and the turn's own account. */
function account(scope: TurnScope, { response, model }: Generated): ModelCallRecord {
  const { agents, conversation, turn } = scope
  const { usage, finish } = response
  const { price } = agents.catalogue.factsOf(model)
  const costMicros = price === null ? null : toCostMicros(price, usage)
  scope.account.modelCalls += 1
  scope.account.usage = addTokens(scope.account.usage, usage)
  if (scope.account.costMicros !== null) {
    scope.account.costMicros = costMicros === null ? null : scope.account.costMicros + costMicros
  }
  const { taskId, askedBy } = turn
  const isLast = callsOf(response.message).length === 0
  const entry = { turn: taskId, task: askedBy, model, usage, costMicros, purpose: "turn" } as const
  recordCall(agents, conversation, entry, { isLast })
  return { model, usage, costMicros, finish, ...(askedBy && { task: askedBy }) }
}

/** A model that stops for its longest answer in the middle of a call has asked for nothing. */
export function requireWhole({ message, record }: ModelAnswer): void {
  if (record.finish !== "length" || callsOf(message).length === 0) return
  throw new MeanwhileError(
    "model_refused",
    `${record.model} reached its longest answer in the middle of a tool call. Raise agent.maxOutputTokens.`,
  )
}

type Answer = Extract<Message, { role: "assistant" }>

const NO_ANSWER = { type: "text", text: "(no answer)" } as const

/**
 * The answer as every provider takes it back: not empty, no two calls with one id. Calls of a model that was offered no
 * tools are left out: nobody answers them.
 */
function toUsableMessage(message: Answer, mayCall: boolean): Answer {
  const parts = message.parts.filter((part) =>
    part.type === "text" ? part.text !== "" : part.type !== "call" || mayCall,
  )
  const isTelling = parts.some((part) => part.type !== "reasoning")
  if (!isTelling) return { role: "assistant", parts: [...parts, NO_ANSWER] }
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
