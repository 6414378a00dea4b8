import { type Clock, systemClock } from "../../base/clock.ts"
import { MeanwhileError } from "../../base/error.ts"
import type { ConnectedModel, ModelRequest } from "../../plugin/model.ts"
import type { TokenUsage } from "../../plugin/token-usage.ts"
import { playAnswer } from "./play-answer.ts"
import type { Script, ScriptedAnswer, ScriptStep } from "./script.ts"

export interface ScriptedModelOptions {
  /** Default `scripted/model`. */
  readonly id?: string
  /** Usage of every answer that names none. Default: 10 tokens in, 5 out. */
  readonly usage?: TokenUsage
  readonly contextLimitTokens?: number
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
    clock = systemClock,
    keepsRequests = true,
  } = options
  const steps = toSteps(script)
  const requests: ModelRequest[] = []
  let callCount = 0

  return {
    id,
    ...(contextLimitTokens !== undefined && { contextLimitTokens }),
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
