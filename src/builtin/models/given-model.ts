import type { LanguageModelV4 } from "@ai-sdk/provider"
import { definePlugin } from "../../plugin/define-plugin.ts"
import type { ConnectedModel } from "../../plugin/model.ts"
import type { ModelProviderPlugin } from "../../plugin/model-provider-plugin.ts"
import { type ConnectionOptions, isLanguageModel, toConnectedModel } from "./connected-model.ts"

/** A model as an object: one of ours, or any of the AI SDK. */
export type GivenModel = ConnectedModel | LanguageModelV4

/** The provider of just this model, and the model's id. */
export function createGivenProvider(
  model: GivenModel,
  options: ConnectionOptions = {},
): { provider: ModelProviderPlugin; id: string } {
  const connected = isLanguageModel(model) ? toConnectedModel(toId(model), model, options) : model
  const [name = "given"] = connected.id.split("/", 1)
  const provider = definePlugin({ kind: "model_provider", name, isConfigured: () => true, connect: () => connected })
  return { provider, id: connected.id }
}

/** `anthropic.messages` and `claude-…` make `anthropic/claude-…`. */
function toId({ provider, modelId }: LanguageModelV4): string {
  const [origin = ""] = provider.split(".", 1)
  const name = origin.toLowerCase().replace(/[^a-z0-9_-]/g, "-")
  return `${/^[a-z]/.test(name) ? name : `given-${name}`}/${modelId}`
}
