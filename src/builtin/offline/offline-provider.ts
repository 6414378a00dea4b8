import { setImmediate as letOthersRun } from "node:timers/promises"
import { type Clock, systemClock } from "../../base/clock.ts"
import { MeanwhileError } from "../../base/error.ts"
import { unlessAborted } from "../../base/unless-aborted.ts"
import { defineBuiltin } from "../../plugin/define-plugin.ts"
import type { FunctionCall, ReasoningPart, TextPart, Message } from "../../plugin/message.ts"
import type { ModelDelta, ModelRequest, ProviderResponse } from "../../plugin/model.ts"
import type { ModelProviderPlugin } from "../../plugin/model-provider-plugin.ts"
import { planAnswer } from "./plan-answer.ts"

/** The model that is used if there is no key for another one. */
export const OFFLINE_MODEL = "offline/rules"

export interface OfflineProviderOptions {
  /** Default 32,000: small, so that collection can be seen. */
  readonly contextLimitTokens?: number
  /** The clock for "slowly". */
  readonly clock?: Clock
  /** Default: random, so that a conversation never has one twice. */
  readonly createCallId?: () => string
}

type ModelOptions = Required<OfflineProviderOptions> & { readonly id: string }

/**
 * Works without a key and without a network: a list of rules behind the interface of a model. Every name is the same model,
 * deterministic but for the ids of its calls.
 */
export function createOfflineProvider(given: OfflineProviderOptions = {}): ModelProviderPlugin {
  const { contextLimitTokens = 32_000, clock = systemClock, createCallId = () => `call-${crypto.randomUUID()}` } = given
  return defineBuiltin({
    kind: "model_provider",
    name: "offline",
    isConfigured: () => true,
    connect: (model) => {
      const options: ModelOptions = { id: `offline/${model}`, contextLimitTokens, clock, createCallId }
      return { id: options.id, contextLimitTokens, generate: (request) => generate(request, options) }
    },
  })
}

async function generate(request: ModelRequest, options: ModelOptions): Promise<ProviderResponse> {
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

const WORD = /\s*\S+\s*/g
/** After so many words the event loop runs, so that an answer of thousands of words can be stopped from outside. */
const WORDS_AT_ONCE = 32

/** Streams a text word by word, `paceMs` between two. Rejects with the signal's reason when it is aborted. */
async function speak(
  type: ModelDelta["type"],
  text: string,
  { signal, onDelta }: Pick<ModelRequest, "signal" | "onDelta">,
  { paceMs, clock }: { readonly paceMs: number; readonly clock: Clock },
): Promise<void> {
  signal.throwIfAborted()
  let spoken = 0
  for (const word of text.match(WORD) ?? []) {
    if (spoken > 0 && paceMs > 0) await pause(paceMs, signal, clock)
    else if (spoken > 0 && spoken % WORDS_AT_ONCE === 0) await letOthersRun()
    signal.throwIfAborted()
    onDelta?.({ type, text: word })
    spoken++
  }
}

async function pause(durationMs: number, signal: AbortSignal, clock: Clock): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const cancel = clock.schedule(durationMs, resolve)
  await unlessAborted(signal, promise).finally(cancel)
}

function cut(text: string, maxTokens: number | undefined): string {
  if (maxTokens === undefined || countTokens(text) <= maxTokens) return text
  return text.slice(0, maxTokens * CHARACTERS_PER_TOKEN)
}

function toOverflow(inputTokens: number, { id, contextLimitTokens }: ModelOptions): MeanwhileError {
  return new MeanwhileError(
    "context_overflow",
    `The conversation takes about ${inputTokens} tokens and ${id} reads ${contextLimitTokens}. Collect or reset the conversation.`,
    { model: id, inputTokens, contextLimitTokens },
  )
}

const CHARACTERS_PER_TOKEN = 4
/** The tokens that a file counts, as a picture does at other models: its bytes are not text. */
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
