import type { ModelProviderPlugin } from "../../plugin/model-provider-plugin.ts"

/** The default model of each provider. */
const MODEL_OF: Readonly<Record<string, string>> = {
  anthropic: "anthropic/claude-sonnet-5-5",
  openai: "openai/gpt-6-sol",
  google: "google/gemini-4-argon",
}

/** The default model of the first provider that has a key, else the offline model. */
export function pickDefaultModel(providers: readonly ModelProviderPlugin[], offline: string): string {
  for (const [name, model] of Object.entries(MODEL_OF)) {
    if (providers.some((provider) => provider.name === name && provider.isConfigured?.())) return model
  }
  return offline
}
