import type { Message } from "./message.ts"
import type { ConnectedModel } from "./model.ts"
import type { PluginBase } from "./plugin-base.ts"

/** Gives access to the models of one provider. Its name is the part of a model's id before the first `/`. */
export interface ModelProviderPlugin extends PluginBase {
  readonly kind: "model_provider"
  /**
   * `model` is the id without the provider. Refused as `key_missing` without a key, and as `unknown_model` if there is
   * no such model.
   */
  connect(model: string): Promise<ConnectedModel> | ConnectedModel
  /** True if the provider has a key and everything else it needs. Never reveals the key. */
  isConfigured?(): boolean
  /** Writes the history as this provider's other programs read it. Default: our own JSON. */
  serializeHistory?(messages: readonly Message[]): string
  deserializeHistory?(text: string): readonly Message[]
}
