import { meetsModelRequirements } from "../../plugin/model-requirement.ts"
import type { ModelFacts } from "./model-facts.ts"
import { KNOWN_MODELS } from "./catalogue-table.ts"

const GLOBS = Object.keys(KNOWN_MODELS)
  .filter((key) => key.includes("*"))
  .toSorted((a, b) => b.length - a.length)

/** The exact id, then the same without its date, then the longest pattern that fits. */
export function findKnownModel(modelId: string): ModelFacts | undefined {
  for (const id of toFamilyIds(modelId)) {
    const pattern = Object.hasOwn(KNOWN_MODELS, id) ? id : GLOBS.find((glob) => meetsModelRequirements([glob], id))
    if (pattern !== undefined) return KNOWN_MODELS[pattern]
  }
  return undefined
}

const DATE = /[-@](?:\d{8}|\d{4}-\d{2}-\d{2})$/

/** Under which names of its maker a model may be known: `openrouter/google/gemini-2.5-pro` is `google/gemini-2.5-pro`. */
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
