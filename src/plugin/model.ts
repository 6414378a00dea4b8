import type { JsonObject } from "../base/json.ts"
import type { Message } from "./message.ts"
import type { TokenUsage } from "./token-usage.ts"
import type { InputSchema } from "./tool-schema.ts"

/** A tool as a model call names it. */
export interface ModelTool {
  /** Letters, digits, - and _, with single dots between them. A provider whose API refuses dots sends another name there. */
  readonly name: string
  readonly description: string
  readonly inputSchema: InputSchema
}

export const MODALITIES = ["text", "image", "pdf", "audio", "video"] as const
/** What a model can take in. */
export type Modality = (typeof MODALITIES)[number]

/** Whether the model may, must or must not call a tool, or which one it must call. */
export type ToolChoice = "auto" | "none" | "required" | { readonly tool: string }

/** What only one provider knows, by the provider's name as its SDK takes it. */
export type ProviderOptions = Readonly<Record<string, JsonObject>>

export interface ModelOutput {
  /** JSON Schema of an object. */
  readonly schema: JsonObject
}

/** A piece of an answer while it is still being written. */
export type ModelDelta = { readonly type: "text" | "reasoning"; readonly text: string }

export interface ModelRequest {
  /** Empty: no system prompt. */
  readonly system: string
  readonly messages: readonly Message[]
  readonly tools: readonly ModelTool[]
  /** Has no effect without tools. Default: `auto`. */
  readonly toolChoice?: ToolChoice
  readonly providerOptions?: ProviderOptions
  /** The form of the answer, unless it is a call. Only given to a model that says `hasJsonMode`. */
  readonly output?: ModelOutput
  readonly maxOutputTokens?: number
  readonly temperature?: number
  readonly signal: AbortSignal
  readonly onDelta?: (delta: ModelDelta) => void
}

/** `length`: the answer was cut at the longest allowed; `filter`: the provider withheld it. */
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
 * details if the provider named a time, and `stalledMs` if it was waited for in vain; if aborted, rejects with the signal's reason. It never retries by itself, and
 * its errors contain no key.
 */
export interface ConnectedModel {
  /** `provider/name`. */
  readonly id: string
  /** Present if the provider itself states the limit. */
  readonly contextLimitTokens?: number
  /** True if it can be made to answer in the form of `output`, also beside tools. */
  readonly hasJsonMode?: boolean
  generate(request: ModelRequest): Promise<ProviderResponse>
}
