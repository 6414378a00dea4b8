import type { LanguageModelV4 } from "@ai-sdk/provider"

/** True for a model of the AI SDK's provider interface in the version that Meanwhile calls. */
export function isLanguageModel(value: unknown): value is LanguageModelV4 {
  if (typeof value !== "object" || value === null) return false
  return (
    "specificationVersion" in value &&
    value.specificationVersion === "v4" &&
    "doStream" in value &&
    typeof value.doStream === "function" &&
    "provider" in value &&
    typeof value.provider === "string"
  )
}
