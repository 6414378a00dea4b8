import { MeanwhileError } from "../../base/error.ts"
import { definePlugin } from "../../plugin/define-plugin.ts"
import type { ConnectedModel } from "../../plugin/model.ts"
import type { ModelProviderPlugin } from "../../plugin/model-provider-plugin.ts"
import { type ConnectionOptions, toConnectedModel } from "./connected-model.ts"
import { describeModel, type LanguageModel, toLanguageModel } from "./language-model.ts"

/** A model as an object: one of ours, or any of the AI SDK (6 or 7). */
export type GivenModel = ConnectedModel | LanguageModel

/** Refuses what is no model: a caller in JavaScript may hand in anything. */
export function connectGiven(given: unknown, options: ConnectionOptions): ConnectedModel {
  const model = toLanguageModel(given)
  if (model) return toConnectedModel(toId(model), model, options)
  if (isConnectedModel(given)) return given
  const advice =
    'Give "provider/name", or a model object: of AI SDK 6 or 7 (LanguageModelV3 or LanguageModelV4), or one that `toConnectedModel` makes.'
  throw new MeanwhileError("invalid_input", `\`model\` is ${describeModel(given)}. ${advice}`, { option: "model" })
}

/**
 * The providers, of which one has the given model as well; a new one if none has its name. `taken` are the names of plugins
 * that stay as they are.
 */
export function withGiven(
  given: ConnectedModel,
  providers: readonly ModelProviderPlugin[],
  taken: ReadonlySet<string>,
): readonly ModelProviderPlugin[] {
  const [name = "given"] = given.id.split("/", 1)
  if (taken.has(name)) return providers
  const known = providers.find((provider) => provider.name === name)
  const connect = (model: string) => {
    if (`${name}/${model}` === given.id) return given
    if (known) return known.connect(model)
    const message = `${name} has only the model that was given as an object: ${given.id}.`
    throw new MeanwhileError("unknown_model", message, { model: `${name}/${model}` })
  }
  const own = definePlugin({ ...known, kind: "model_provider", name, isConfigured: () => true, connect })
  return [own, ...providers.filter((provider) => provider !== known)]
}

function isConnectedModel(value: unknown): value is ConnectedModel {
  if (typeof value !== "object" || value === null) return false
  return "id" in value && typeof value.id === "string" && "generate" in value && typeof value.generate === "function"
}

/** `anthropic.messages` and `claude-…` make `anthropic/claude-…`. */
function toId({ provider, modelId }: Pick<LanguageModel, "provider" | "modelId">): string {
  const [origin = ""] = provider.split(".", 1)
  const name = origin.toLowerCase().replace(/[^a-z0-9_-]/g, "-")
  return `${/^[a-z]/.test(name) ? name : `given-${name}`}/${modelId}`
}
