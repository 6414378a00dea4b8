import { createGivenProvider } from "./builtin/models/given-model.ts"
import { createModelProviders } from "./builtin/models/model-providers.ts"
import { createOfflineProvider, OFFLINE_MODEL } from "./builtin/offline/offline-provider.ts"
import type { ModelProviderPlugin } from "./plugin/model-provider-plugin.ts"
import type { RuntimeOptions } from "./runtime.ts"
import { pickDefaultModel } from "./session/model/default-model.ts"

/** All providers are there by name; a model given as an object stands for its own. */
export function pickModels(
  options: RuntimeOptions,
  environment: NonNullable<RuntimeOptions["environment"]>,
  configured: string | null,
): { readonly providers: readonly ModelProviderPlugin[]; readonly model: string } {
  const { providers: settings = {}, plugins = [], clock } = options
  const given = typeof options.model === "object" ? createGivenProvider(options.model) : undefined
  const known = [
    ...createModelProviders({ environment, providers: settings }),
    createOfflineProvider(clock ? { clock } : {}),
  ]
  const names = new Set(plugins.map(({ name }) => name))
  const own = given && !names.has(given.provider.name) ? [given.provider] : []
  const providers = [...own, ...known.filter(({ name }) => name !== given?.provider.name && !names.has(name))]
  const wanted = given?.id ?? (typeof options.model === "string" ? options.model : configured)
  return { providers, model: wanted ?? pickDefaultModel(providers, OFFLINE_MODEL) }
}
