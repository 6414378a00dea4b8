/** Prices in US dollars for a million tokens. */
export interface ModelPrice {
  readonly input: number
  readonly cachedInput?: number
  readonly output: number
}

export const MODALITIES = ["text", "image", "pdf", "audio", "video"] as const
export type Modality = (typeof MODALITIES)[number]

export interface ModelFacts {
  readonly contextLimitTokens: number
  readonly maxOutputTokens: number | null
  /** Null: not known. */
  readonly price: ModelPrice | null
  readonly modalities: readonly Modality[]
}
