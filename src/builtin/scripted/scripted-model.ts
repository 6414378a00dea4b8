import { type Clock, systemClock } from "../../base/clock.ts"
import { MeanwhileError } from "../../base/error.ts"
import { unlessAborted } from "../../base/unless-aborted.ts"
import type { ConnectedModel, ModelRequest, ProviderResponse } from "../../plugin/model.ts"
import type { TokenUsage } from "../../plugin/token-usage.ts"
import type { Script, ScriptedAnswer, ScriptStep, ScriptedCall, ScriptedError } from "./script.ts"
import type { FunctionCall, ReasoningPart, TextPart } from "../../plugin/message.ts"

export interface ScriptedModelOptions {
  /** Default `scripted/model`. */
  readonly id?: string
  /** Usage of every answer that names none. Default: 10 tokens in, 5 out. */
  readonly usage?: TokenUsage
  readonly contextLimitTokens?: number
  /** Whether it says that it answers in the form of `output`. Default: no, so that it is given a tool for that. */
  readonly hasJsonMode?: boolean
  /** The clock for `delayMs`. */
  readonly clock?: Clock
  /** Default true. Without it, long runs need no memory. */
  readonly keepsRequests?: boolean
}

/** Plays a script, one step for each call. */
export interface ScriptedModel extends ConnectedModel {
  /** Every request so far, as it was when it came. */
  readonly requests: readonly ModelRequest[]
  /** How many calls there were, kept or not. */
  readonly callCount: number
}

const USAGE: TokenUsage = { inputTokens: 10, cachedInputTokens: 0, outputTokens: 5, reasoningTokens: 0 }

export function createScriptedModel(script: Script, options: ScriptedModelOptions = {}): ScriptedModel {
  const {
    id = "scripted/model",
    usage = USAGE,
    contextLimitTokens,
    hasJsonMode = false,
    clock = systemClock,
    keepsRequests = true,
  } = options
  const steps = toSteps(script)
  const requests: ModelRequest[] = []
  let callCount = 0

  return {
    id,
    ...(contextLimitTokens !== undefined && { contextLimitTokens }),
    hasJsonMode,
    requests,
    get callCount() {
      return callCount
    },
    async generate(request) {
      request.signal.throwIfAborted()
      callCount++
      if (keepsRequests) requests.push({ ...request, messages: [...request.messages] })
      const next = steps.next()
      if (next.done) throw toEndError(id, callCount)
      const answer = await toAnswer(next.value, request)
      return playAnswer(answer, request, { usage, clock, callCount })
    },
  }
}

/** A single text is a script of one answer, not of its letters. */
function toSteps(script: Script): Iterator<ScriptStep> {
  return (typeof script === "string" ? [script] : script)[Symbol.iterator]()
}

async function toAnswer(step: ScriptStep, request: ModelRequest): Promise<ScriptedAnswer> {
  let current = step
  while (typeof current === "function") current = await current(request)
  return typeof current === "string" ? { text: current } : current
}

function toEndError(id: string, callCount: number): MeanwhileError {
  return new MeanwhileError(
    "model_refused",
    `The script of ${id} is over: it has ${callCount - 1} steps and this is call ${callCount}. Add a step to the script, or look why there was one more call.`,
    { model: id, call: callCount },
  )
}

/** `callCount`: which call of the model this is, from 1. */
async function playAnswer(
  answer: ScriptedAnswer,
  request: ModelRequest,
  { usage, clock, callCount }: Required<Pick<ScriptedModelOptions, "usage" | "clock">> & { readonly callCount: number },
): Promise<ProviderResponse> {
  const { signal, onDelta } = request
  const { delayMs, gate, reasoning = "", calls = [], error } = answer
  if (delayMs !== undefined || gate !== undefined) await waitFor(answer, signal, clock)
  const parts: (ReasoningPart | TextPart | FunctionCall)[] = []
  if (reasoning !== "") {
    onDelta?.({ type: "reasoning", text: reasoning })
    parts.push({ type: "reasoning", text: reasoning })
  }
  const text = say(answer.text ?? "", request)
  if (text !== "") parts.push({ type: "text", text })
  signal.throwIfAborted()
  if (error) throw toError(error)
  calls.forEach((call, index) => parts.push(toCall(call, `${request.messages.length}-${callCount}-${index}`)))
  return {
    message: { role: "assistant", parts },
    finish: answer.finish ?? (calls.length > 0 ? "calls" : "stop"),
    usage: { ...usage, ...answer.usage },
  }
}

/** Streams the text, until the signal is aborted, and returns all of it. */
function say(text: string | readonly string[], { signal, onDelta }: ModelRequest): string {
  const pieces = typeof text === "string" ? [text] : text
  for (const piece of pieces) {
    signal.throwIfAborted()
    if (piece !== "") onDelta?.({ type: "text", text: piece })
  }
  return typeof text === "string" ? text : text.join("")
}

/** A default id also differs from the ids of another process that went on with the same conversation. */
function toCall({ tool, input = {}, id }: ScriptedCall, place: string): FunctionCall {
  return { type: "call", id: id ?? `call-${place}`, tool, input }
}

function toError({ code, message = `The script says: ${code}.`, retryAfterMs }: ScriptedError): MeanwhileError {
  return new MeanwhileError(code, message, retryAfterMs === undefined ? {} : { retryAfterMs })
}

/** Waits for the delay, then for the gate. Rejects with the signal's reason as soon as it is aborted. */
async function waitFor(
  { delayMs = 0, gate }: Pick<ScriptedAnswer, "delayMs" | "gate">,
  signal: AbortSignal,
  clock: Clock,
): Promise<void> {
  signal.throwIfAborted()
  const delayed = Promise.withResolvers<void>()
  const cancel = clock.schedule(delayMs, delayed.resolve)
  try {
    if (delayMs > 0) await unlessAborted(signal, delayed.promise)
    if (gate) await unlessAborted(signal, gate)
  } finally {
    cancel()
  }
}
