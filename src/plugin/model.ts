import type { Message } from "./message.ts"
import type { TokenUsage } from "./token-usage.ts"
import type { InputSchema } from "./tool-schema.ts"

/** A tool as a model call names it. */
export interface ModelTool {
  /**
   * Letters, digits, - and _, with single dots between: a provider whose API refuses dots names them otherwise there.
   */
  readonly name: string
  readonly description: string
  readonly inputSchema: InputSchema
}

/** A piece of an answer while it is still being written. */
export type ModelDelta = { readonly type: "text" | "reasoning"; readonly text: string }

export interface ModelRequest {
  /** Empty: none. */
  readonly system: string
  readonly messages: readonly Message[]
  readonly tools: readonly ModelTool[]
  readonly maxOutputTokens?: number
  readonly temperature?: number
  readonly signal: AbortSignal
  readonly onDelta?: (delta: ModelDelta) => void
}

/** `length`: the answer was cut at its longest; `filter`: the provider withheld it. */
export type FinishReason = "stop" | "calls" | "length" | "filter" | "other"

/** One finished answer, the same from every provider. */
export interface ProviderResponse {
  readonly message: Extract<Message, { role: "assistant" }>
  readonly finish: FinishReason
  readonly usage: TokenUsage
  /** Warnings of the provider, for example about a setting it ignores. */
  readonly warnings?: readonly string[]
}

/**
 * One model, ready to be called. Stateless: the whole conversation comes with each call.
 *
 * Contract of `generate`: rejects with a MeanwhileError whose code says what happened (`rate_limited`,
 * `model_unavailable`, `context_overflow`, `key_refused`, `unknown_model`, `model_refused`), with `retryAfterMs` in its
 * details when the
 * provider named a time; with the signal's reason when it was aborted. It never retries by itself, and no key is in its
 * error.
 */
export interface ConnectedModel {
  /** `provider/name`. */
  readonly id: string
  /** When the provider itself knows. */
  readonly contextLimitTokens?: number
  generate(request: ModelRequest): Promise<ProviderResponse>
  /** When the provider can count. Otherwise it is estimated. */
  countTokens?(text: string): Promise<number> | number
}
