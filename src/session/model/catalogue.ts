import { meetsModelRequirements } from "../../plugin/model-requirement.ts"
import { findKnownModel } from "./catalogue-lookup.ts"
import type { ModelFacts } from "./model-facts.ts"

export type { ModelFacts } from "./model-facts.ts"

/** What the person says of a model, over what is known of it. */
export type ModelOverride = { readonly [Key in keyof ModelFacts]?: ModelFacts[Key] | undefined }

/** By `provider/name`, or by a pattern of it with `*` and `?`. */
export type ModelOverrides = Readonly<Record<string, ModelOverride>>

export interface ModelCatalogue {
  /** `provider/name`. Contract: always answers, and the same for the same id. */
  factsOf(modelId: string): ModelFacts
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

/** The more a pattern says, the later it is laid over the others; an exact id comes last. */
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
