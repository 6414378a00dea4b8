import type { Clock } from "../../base/clock.ts"
import { MeanwhileError } from "../../base/error.ts"
import type { FunctionCall, ReasoningPart, TextPart, Message } from "../../plugin/message.ts"
import type { ConnectedModel, ModelRequest, ProviderResponse } from "../../plugin/model.ts"
import { planAnswer } from "./plan-answer.ts"
import { speak } from "./speak.ts"

export interface OfflineModelOptions {
  readonly id: string
  readonly contextLimitTokens: number
  readonly clock: Clock
  readonly createCallId: () => string
}

/** A list of rules behind the interface of a model. Deterministic but for the ids of its calls. */
export function createOfflineModel(options: OfflineModelOptions): ConnectedModel {
  const { id, contextLimitTokens } = options
  return { id, contextLimitTokens, countTokens, generate: (request) => generate(request, options) }
}

async function generate(request: ModelRequest, options: OfflineModelOptions): Promise<ProviderResponse> {
  const { clock, createCallId } = options
  request.signal.throwIfAborted()
  const inputTokens = estimateInput(request)
  if (inputTokens > options.contextLimitTokens) throw toOverflow(inputTokens, options)
  const { think = "", say = "", paceMs = 0, calls = [] } = planAnswer(request)
  const text = cut(say, request.maxOutputTokens)
  const parts: (ReasoningPart | TextPart | FunctionCall)[] = []
  if (think !== "") {
    await speak("reasoning", think, request, { paceMs, clock })
    parts.push({ type: "reasoning", text: think })
  }
  if (text !== "") {
    await speak("text", text, request, { paceMs, clock })
    parts.push({ type: "text", text })
  }
  for (const { tool, input } of calls) parts.push({ type: "call", id: createCallId(), tool, input })
  const reasoningTokens = countTokens(think)
  const outputTokens = reasoningTokens + countTokens(text) + (calls.length > 0 ? countTokens(JSON.stringify(calls)) : 0)
  return {
    message: { role: "assistant", parts },
    finish: calls.length > 0 ? "calls" : text === say ? "stop" : "length",
    usage: { inputTokens, cachedInputTokens: 0, outputTokens, reasoningTokens },
  }
}

function cut(text: string, maxTokens: number | undefined): string {
  if (maxTokens === undefined || countTokens(text) <= maxTokens) return text
  return text.slice(0, maxTokens * CHARACTERS_PER_TOKEN)
}

function toOverflow(inputTokens: number, { id, contextLimitTokens }: OfflineModelOptions): MeanwhileError {
  return new MeanwhileError(
    "context_overflow",
    `The conversation takes about ${inputTokens} tokens and ${id} reads ${contextLimitTokens}. Collect or reset the conversation.`,
    { model: id, inputTokens, contextLimitTokens },
  )
}

const CHARACTERS_PER_TOKEN = 4
/** A file's bytes are no text: what a picture takes elsewhere. */
const FILE_TOKENS = 1_500

const remembered = new WeakMap<Message, number>()

export function estimateInput({ system, messages, tools }: ModelRequest): number {
  return messages.reduce((tokens, message) => tokens + estimateMessage(message), countTokens(system + toText(tools)))
}

function countTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN)
}

function estimateMessage(message: Message): number {
  const known = remembered.get(message)
  if (known !== undefined) return known
  let files = 0
  const text = JSON.stringify(message.parts, (key, value: unknown) => {
    if (key !== "source") return value
    files++
    return undefined
  })
  const tokens = countTokens(text) + files * FILE_TOKENS
  remembered.set(message, tokens)
  return tokens
}

/** Only the fields a model is told: an offered tool may have more. */
function toText(tools: ModelRequest["tools"]): string {
  const told = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
  return told.length > 0 ? JSON.stringify(told) : ""
}
