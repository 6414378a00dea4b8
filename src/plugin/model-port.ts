import type { Message } from "./message.ts"
import type { ProviderResponse } from "./model.ts"

/**
 * The model of the calling conversation, for a plugin's own use. Its usage goes into the ledger. The model is offered
 * no tools.
 */
export interface ModelPort {
  /** `provider/name`. */
  readonly id: string
  generate(request: {
    readonly system?: string
    readonly messages: readonly Message[]
    readonly maxOutputTokens?: number
    readonly signal?: AbortSignal
  }): Promise<ProviderResponse>
}
