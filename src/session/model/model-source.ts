import { MeanwhileError } from "../../base/error.ts"
import type { ConnectedModel } from "../../plugin/model.ts"
import { findNearNames } from "../../base/near-name.ts"
import type { ModelProviderPlugin } from "../../plugin/model-provider-plugin.ts"
import type { Registry } from "../../plugin/registry.ts"

/** Finds a model by its id, and connects to it once. */
export interface ModelSource {
  connect(id: string): Promise<ConnectedModel>
  providers(): readonly ModelProviderPlugin[]
}

export function createModelSource(registry: Pick<Registry, "list" | "onChange">): ModelSource {
  const connected = new Map<string, Promise<ConnectedModel>>()
  registry.onChange(() => connected.clear())

  function providers(): readonly ModelProviderPlugin[] {
    return registry
      .list({ kind: "model_provider", isExposed: true })
      .flatMap(({ plugin }) => (plugin.kind === "model_provider" ? [plugin] : []))
  }

  async function connect(id: string): Promise<ConnectedModel> {
    const [name = "", ...rest] = id.split("/")
    const provider = providers().find((plugin) => plugin.name === name)
    if (provider && rest.length > 0) return provider.connect(rest.join("/"))
    if (provider) {
      const message = `"${id}" is a provider and names no model. Write ${id}/MODEL.`
      throw new MeanwhileError("unknown_model", message, { model: id })
    }
    const known = providers().map((plugin) => plugin.name)
    const near = findNearNames(name, known)
    const hint = near.length > 0 ? `Did you mean ${near.join(", ")}?` : `Known providers: ${known.join(", ")}.`
    const message = `There is no provider for the model "${id}". ${hint} A model is written PROVIDER/NAME.`
    throw new MeanwhileError("unknown_model", message, { model: id })
  }

  return {
    providers,
    connect(id) {
      const known = connected.get(id)
      if (known) return known
      const connecting = connect(id)
      connected.set(id, connecting)
      connecting.catch(() => connected.delete(id))
      return connecting
    },
  }
}
