import { systemClock } from "../../base/clock.ts"
import { defineBuiltin } from "../../plugin/define-plugin.ts"
import type { ModelProviderPlugin } from "../../plugin/model-provider-plugin.ts"
import { createOfflineModel, type OfflineModelOptions } from "./offline-model.ts"

/** The model that is used when no key is there for another. */
export const OFFLINE_MODEL = "offline/rules"

export type OfflineProviderOptions = Partial<Omit<OfflineModelOptions, "id">>

/** Works without a key and without a network. Every name is the same model. */
export function createOfflineProvider(options: OfflineProviderOptions = {}): ModelProviderPlugin {
  const {
    contextLimitTokens = 32_000,
    clock = systemClock,
    createCallId = () => `call-${crypto.randomUUID()}`,
  } = options
  return defineBuiltin({
    kind: "model_provider",
    name: "offline",
    isConfigured: () => true,
    connect: (model) => createOfflineModel({ id: `offline/${model}`, contextLimitTokens, clock, createCallId }),
  })
}
