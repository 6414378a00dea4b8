import type { LanguageModelV4 } from "@ai-sdk/provider"
import { MeanwhileError } from "../../base/error.ts"
import { definePlugin } from "../../plugin/define-plugin.ts"
import type { ModelProviderPlugin } from "../../plugin/model-provider-plugin.ts"
import { isLanguageModel, toConnectedModel } from "./connected-model.ts"
import { deserializeHistory, serializeHistory } from "./history.ts"
import { toModelError } from "./model-error.ts"
import { createScrubber } from "./scrub.ts"

/** A provider object of the AI SDK as a plugin: `createLanguageModelProvider("mistral", (model) => mistral(model))`. */
export function createLanguageModelProvider(
  name: string,
  toModel: (model: string) => LanguageModelV4,
): ModelProviderPlugin {
  return definePlugin({
    kind: "model_provider",
    name,
    connect: (model: string) => {
      const id = `${name}/${model}`
      try {
        return toConnectedModel(id, checkModel(id, toModel(model)))
      } catch (error) {
        throw toModelError(error, { id, scrub: createScrubber([]) })
      }
    },
    serializeHistory,
    deserializeHistory,
  })
}

function checkModel(id: string, value: unknown): LanguageModelV4 {
  if (isLanguageModel(value)) return value
  const version =
    typeof value === "object" && value && "specificationVersion" in value ? value.specificationVersion : null
  const found = typeof version === "string" ? `a model of the specification ${version}` : "no language model"
  throw new MeanwhileError(
    "invalid_input",
    `The provider of ${id} returned ${found}. Return a LanguageModelV4, as the @ai-sdk packages of AI SDK 7 make them.`,
    { model: id },
  )
}
