import type { ContextUsage } from "./context-usage.ts"
import type { Message } from "./message.ts"
import type { ModelPort } from "./model-port.ts"
import type { PluginBase } from "./plugin-base.ts"

export interface GcConfig {
  /** Share of the context window at which collection is due. Default 75. */
  readonly thresholdPercent: number
  /** Share of the context window to which a collection brings it down. */
  readonly targetPercent: number
}

export type CollectionDecision =
  | { readonly isDue: false }
  /** `reason` is handed to `collect` and shown to the person. */
  | { readonly isDue: true; readonly reason: string }

export interface Collection {
  /** The messages the conversation continues with. Each call has its result, and each result its call. */
  readonly messages: readonly Message[]
  readonly removedMessages: number
  /** One line for the person. */
  readonly summary: string
}

export interface CollectionContext {
  /** The model of the conversation. */
  readonly model: ModelPort
  /** About how many tokens a message takes. */
  estimateTokens(message: Message): number
  readonly signal: AbortSignal
}

/** Makes room in the context window. Decides nothing about tasks, whose roster the session puts back. */
export interface GcPlugin extends PluginBase {
  readonly kind: "gc"
  shouldCollect(usage: ContextUsage, config: GcConfig): Promise<CollectionDecision> | CollectionDecision
  collect(
    messages: readonly Message[],
    usage: ContextUsage,
    config: GcConfig,
    reason: string,
    context: CollectionContext,
  ): Promise<Collection> | Collection
}
