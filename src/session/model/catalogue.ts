import { meetsModelRequirements } from "../../plugin/registry-state.ts"
import type { ModelFacts } from "./model-facts.ts"
import { KNOWN_MODELS } from "./catalogue-table.ts"

export type { ModelFacts } from "./model-facts.ts"

/** Facts about a model that the configuration sets over the known ones. */
export type ModelOverride = { readonly [Key in keyof ModelFacts]?: ModelFacts[Key] | undefined }

/** By `provider/name`, or by a pattern of it with `*` and `?`. */
export type ModelOverrides = Readonly<Record<string, ModelOverride>>

export interface ModelCatalogue {
  /** Takes `provider/name`. Contract: returns facts for every id, and the same facts for the same id. */
  readonly factsOf: (modelId: string) => ModelFacts
}

export const UNKNOWN_MODEL: ModelFacts = {
  contextLimitTokens: 128_000,
  maxOutputTokens: null,
  price: null,
  modalities: ["text"],
}

export function createModelCatalogue(overrides: ModelOverrides = {}): ModelCatalogue {
  const patterns = Object.keys(overrides).toSorted(byWeight)
  const remembered = new Map<string, ModelFacts>()

  function look(modelId: string): ModelFacts {
    let facts = findKnownModel(modelId) ?? UNKNOWN_MODEL
    for (const pattern of patterns) {
      if (pattern === modelId || meetsModelRequirements([pattern], modelId)) facts = override(facts, overrides[pattern])
    }
    return facts
  }

  return {
    factsOf(modelId) {
      const known = remembered.get(modelId)
      if (known) return known
      const facts = look(modelId)
      if (remembered.size < MOST_REMEMBERED) remembered.set(modelId, facts)
      return facts
    },
  }
}

/** Ids can come from a person or a caller: their number has no bound of its own. */
const MOST_REMEMBERED = 1_000

/** Sorts longer patterns after shorter ones and exact ids last: a later override wins. */
function byWeight(a: string, b: string): number {
  return Number(isExact(a)) - Number(isExact(b)) || a.length - b.length
}

const isExact = (pattern: string): boolean => !/[*?]/.test(pattern)

function override(facts: ModelFacts, { contextLimitTokens, maxOutputTokens, price, modalities }: ModelOverride = {}) {
  return {
    contextLimitTokens: contextLimitTokens ?? facts.contextLimitTokens,
    maxOutputTokens: maxOutputTokens === undefined ? facts.maxOutputTokens : maxOutputTokens,
    price: price === undefined ? facts.price : price,
    modalities: modalities ?? facts.modalities,
  }
}

const GLOBS = Object.keys(KNOWN_MODELS)
  .filter((key) => key.includes("*"))
  .toSorted((a, b) => b.length - a.length)

/** Looks for the exact id, then for the id without its date, then for the longest pattern that fits. */
function findKnownModel(modelId: string): ModelFacts | undefined {
  for (const id of toFamilyIds(modelId)) {
    const pattern = Object.hasOwn(KNOWN_MODELS, id) ? id : GLOBS.find((glob) => meetsModelRequirements([glob], id))
    if (pattern !== undefined) return KNOWN_MODELS[pattern]
  }
  return undefined
}

const DATE = /[-@](?:\d{8}|\d{4}-\d{2}-\d{2})$/

/** The ids under which the table may know a model: `openrouter/google/gemini-2.5-pro` is `google/gemini-2.5-pro`. */
function toFamilyIds(modelId: string): readonly string[] {
  const own = toMakersId(modelId)
  // A pattern must not win over the same model without its date.
  const dateless = own.replace(DATE, "")
  return Object.hasOwn(KNOWN_MODELS, own) || dateless === own ? [own] : [dateless, own]
}

function toMakersId(modelId: string): string {
  if (modelId.startsWith("vertex/claude-")) return modelId.replace("vertex/", "anthropic/")
  if (modelId.startsWith("vertex/gemini-")) return modelId.replace("vertex/", "google/")
  if (!modelId.startsWith("openrouter/") || modelId.endsWith(":free")) return modelId
  const id = modelId.slice("openrouter/".length).replace(/:[a-z]+$/, "")
  // The router writes claude-sonnet-4.5 where its maker writes claude-sonnet-4-5.
  return id.startsWith("anthropic/") ? id.replaceAll(".", "-") : id
}
