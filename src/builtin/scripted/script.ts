import type { ErrorCode } from "../../base/error.ts"
import type { JsonValue } from "../../base/json.ts"
import type { FinishReason, ModelRequest } from "../../plugin/model.ts"
import type { TokenUsage } from "../../plugin/token-usage.ts"

/** One answer, in the order in which it is given: wait, think, talk, ask for tools, fail. */
export interface ScriptedAnswer {
  /** Waits this long, by the clock, before it says anything. */
  readonly delayMs?: number
  /** Waits for this before it says anything. */
  readonly gate?: Promise<unknown>
  readonly reasoning?: string
  /** A list is streamed piece by piece. */
  readonly text?: string | readonly string[]
  readonly calls?: readonly ScriptedCall[]
  /** Fails after what it said above: a connection that breaks in mid-answer. */
  readonly error?: ScriptedError
  /** Default: that of the model. */
  readonly usage?: Partial<TokenUsage>
  /** Default: `calls` when there are some, else `stop`. */
  readonly finish?: FinishReason
}

export interface ScriptedCall {
  readonly tool: string
  readonly input?: JsonValue
  /** Default: one that no other call of the conversation has. */
  readonly id?: string
}

export interface ScriptedError {
  readonly code: ErrorCode
  readonly message?: string
  readonly retryAfterMs?: number
}

/** A string is an answer of that text. A function is asked when its turn comes. */
export type ScriptStep = string | ScriptedAnswer | ((request: ModelRequest) => ScriptStep | Promise<ScriptStep>)

/** Read step by step as it is played: a generator can go on for ever. */
export type Script = Iterable<ScriptStep>
