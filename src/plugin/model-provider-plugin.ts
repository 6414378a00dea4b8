import type { MessageRecord } from "../task/session.ts"
import type { PluginBase } from "./plugin-base.ts"

/** One model, ready to be called. */
export interface ConnectedModel {
  readonly model: string
  readonly contextLimitTokens: number
  countTokens(text: string): Promise<number> | number
}

/** Gives access to the models of one provider. */
export interface ModelProviderPlugin extends PluginBase {
  readonly kind: "model_provider"
  connect(model: string): Promise<ConnectedModel>
  /** The history as this provider's other programs read it. */
  serializeHistory?(messages: readonly MessageRecord[]): string
  deserializeHistory?(text: string): readonly MessageRecord[]
}
