import { toErrorMessage } from "../base/error.ts"
import type { JsonObject } from "../base/json.ts"
import type { Modality } from "./model.ts"
import type { SessionInfo } from "./sessions-port.ts"

export interface EnrichedPrompt {
  readonly prompt: string
  /** Findings of the plugin for programs, which hear them in `prompt.enriched`: never shown to the model. */
  readonly metadata?: JsonObject
}

export interface EnrichmentContext {
  /** The conversation the prompt is for; null outside of one. */
  readonly session: SessionInfo | null
  /** The model that the prompt is for, and what it can take in. Absent outside of a conversation. */
  readonly model?: { readonly id: string; readonly modalities: readonly Modality[] }
  /** The names of the tools that it is offered. Absent outside of a conversation. */
  readonly tools?: readonly string[]
}

/** Changes or adds to what a person wrote before the model sees it. */
export type EnrichPrompt = (prompt: string, context: EnrichmentContext) => Promise<EnrichedPrompt> | EnrichedPrompt

export interface PromptEnricher {
  readonly plugin: string
  readonly enrichPrompt: EnrichPrompt
}

export interface Enrichment {
  readonly prompt: string
  /** By plugin. */
  readonly metadata: JsonObject
  /** By plugin, the error for which it was skipped. An error never costs the person the prompt. */
  readonly failures: Readonly<Record<string, string>>
}

/** Passes the prompt through the enrichers in order; each sees the text of the one before. */
export async function enrichPrompt(
  enrichers: readonly PromptEnricher[],
  prompt: string,
  context: EnrichmentContext,
): Promise<Enrichment> {
  let text = prompt
  const metadata: Record<string, JsonObject> = {}
  const failures: Record<string, string> = {}
  for (const enricher of enrichers) {
    try {
      const enriched = await enricher.enrichPrompt(text, context)
      if (typeof enriched?.prompt !== "string") throw new Error("it must return { prompt: string }")
      text = enriched.prompt
      if (enriched.metadata) metadata[enricher.plugin] = enriched.metadata
    } catch (error) {
      failures[enricher.plugin] = toErrorMessage(error)
    }
  }
  return { prompt: text, metadata, failures }
}
