import type { MessageRecord } from "../task/session.ts"
import type { PluginBase } from "./plugin-base.ts"

export interface ContextUsage {
  readonly usedTokens: number
  readonly limitTokens: number
  readonly turns: number
}

export interface GcConfig {
  /** Share of the context window at which collection is due. 75 unless the person says otherwise. */
  readonly thresholdPercent: number
}

export type CollectionDecision =
  | { readonly isDue: false }
  /** `reason` is handed to `collect` and shown to the person. */
  | { readonly isDue: true; readonly reason: string }

export interface Collection {
  readonly messages: readonly MessageRecord[]
  readonly removedMessages: number
  /** One line for the person. */
  readonly summary: string
}

/** Makes room in the context window. Decides nothing about tasks: their roster is put back by the session. */
export interface GcPlugin extends PluginBase {
  readonly kind: "gc"
  shouldCollect(usage: ContextUsage, config: GcConfig): Promise<CollectionDecision> | CollectionDecision
  collect(
    messages: readonly MessageRecord[],
    usage: ContextUsage,
    config: GcConfig,
    reason: string,
  ): Promise<Collection> | Collection
}
