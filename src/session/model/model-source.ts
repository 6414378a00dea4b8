import { MeanwhileError } from "../../base/error.ts"
import type { ConnectedModel } from "../../plugin/model.ts"
import { findNearNames } from "../../base/near-name.ts"
import type { ModelProviderPlugin } from "../../plugin/model-provider-plugin.ts"
import type { Registry } from "../../plugin/registry.ts"
import type { ModelCatalogue } from "./catalogue.ts"

/** The models that sessions can use, by their id. */
export interface ModelSource extends ModelCatalogue {
  /** The model of a session that names none. */
  readonly defaultModel: string
  /** Connects once to each model. */
  connect(id: string): Promise<ConnectedModel>
  /**
   * Connects for a session, and exposes plugins that were skipped because no such model was in use. A model that is an
   * object stays the session's own: no other finds it by its id.
   */
  use(model: string | ConnectedModel): Promise<ConnectedModel>
}

interface ModelSourceOptions {
  readonly registry: Pick<Registry, "list" | "onChange" | "welcome">
  readonly catalogue: ModelCatalogue
  readonly defaultModel: string
}

export function createModelSource({ registry, catalogue, defaultModel }: ModelSourceOptions): ModelSource {
  const connected = new Map<string, Promise<ConnectedModel>>()
  registry.onChange(() => connected.clear())

  function providers(): readonly ModelProviderPlugin[] {
    return registry
      .list({ kind: "model_provider", isExposed: true })
      .flatMap(({ plugin }) => (plugin.kind === "model_provider" ? [plugin] : []))
  }

  async function connectAnew(id: string): Promise<ConnectedModel> {
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

  function connect(id: string): Promise<ConnectedModel> {
    const known = connected.get(id)
    if (known) return known
    const connecting = connectAnew(id)
    connected.set(id, connecting)
    connecting.catch(() => connected.delete(id))
    return connecting
  }

  return {
    defaultModel,
    factsOf: catalogue.factsOf,
    connect,
    async use(wanted) {
      const model = typeof wanted === "string" ? await connect(wanted) : requireModel(wanted)
      await registry.welcome(typeof wanted === "string" ? wanted : model.id)
      return model
    },
  }
}

/** A caller in JavaScript may hand in anything. */
function requireModel(given: ConnectedModel): ConnectedModel {
  if (typeof given?.id === "string" && typeof given.generate === "function") return given
  throw new MeanwhileError("invalid_input", `A model is named "provider/name", and is no ${typeof given}.`)
}
