import { definePlugin } from "../../plugin/define-plugin.ts"
import type { ModelProviderPlugin } from "../../plugin/model-provider-plugin.ts"
import { type ConnectionOptions, toConnectedModel } from "./connected-model.ts"
import { deserializeHistory, serializeHistory } from "./history.ts"
import type { LanguageModel } from "./language-model.ts"
import { toModelError } from "./model-error.ts"
import { createScrubber } from "./scrub.ts"

/** A provider object of the AI SDK as a plugin: `createLanguageModelProvider("mistral", (model) => mistral(model))`. */
export function createLanguageModelProvider(
  name: string,
  toModel: (model: string) => LanguageModel,
  options: ConnectionOptions = {},
): ModelProviderPlugin {
  return definePlugin({
    kind: "model_provider",
    name,
    connect: (model: string) => {
      const id = `${name}/${model}`
      try {
        return toConnectedModel(id, toModel(model), options)
      } catch (error) {
        throw toModelError(error, { id, scrub: createScrubber([]) })
      }
    },
    serializeHistory,
    deserializeHistory,
  })
}
