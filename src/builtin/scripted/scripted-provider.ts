import { MeanwhileError } from "../../base/error.ts"
import { definePlugin } from "../../plugin/define-plugin.ts"
import type { ModelProviderPlugin } from "../../plugin/model-provider-plugin.ts"
import type { Script } from "./script.ts"
import { createScriptedModel, type ScriptedModel, type ScriptedModelOptions } from "./scripted-model.ts"

/** A provider of scripted models, named as any other. */
export interface ScriptedProvider extends ModelProviderPlugin {
  /** The models by name. A model that is connected twice is the same one: its script goes on. */
  readonly models: Readonly<Record<string, ScriptedModel>>
}

/** `scripts`: what each model plays, by its name. */
export function createScriptedProvider(
  name: string,
  scripts: Readonly<Record<string, Script>>,
  options: Omit<ScriptedModelOptions, "id"> = {},
): ScriptedProvider {
  const models = Object.fromEntries(
    Object.entries(scripts).map(([model, script]) => [
      model,
      createScriptedModel(script, { ...options, id: `${name}/${model}` }),
    ]),
  )
  return definePlugin({
    kind: "model_provider",
    name,
    models,
    isConfigured: () => true,
    connect(model) {
      const scripted = Object.hasOwn(models, model) ? models[model] : undefined
      if (scripted) return scripted
      throw new MeanwhileError(
        "unknown_model",
        `${name} has no script for ${model}. It has: ${Object.keys(models).join(", ")}.`,
        { model: `${name}/${model}` },
      )
    },
  })
}
