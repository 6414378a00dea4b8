import { MeanwhileError, toErrorMessage } from "../base/error.ts"
import { createPluginHost } from "./create-plugin-host.ts"
import { meetsModelRequirements } from "./model-requirement.ts"
import type { Exposure, RegisteredPlugin, RegistryState } from "./registry-state.ts"
import { announce, skip, toContributors } from "./registry-state.ts"

/**
 * Contract: resolves when the plugin is initialized and reachable, or when it is hidden and its reason is among the
 * skipped. A plugin that cannot be exposed is no error of the caller's.
 */
export async function exposePlugin(
  state: RegistryState,
  registered: RegisteredPlugin,
  exposure: Exclude<Exposure, "hidden">,
): Promise<void> {
  return inTurn(registered, async () => {
    if (registered.exposure === exposure || registered.exposure === "full") return
    if (registered.exposure === "hidden" && !(await initialize(state, registered))) return
    registered.exposure = exposure
    if (exposure === "full") for (const contributor of toContributors(registered)) state.tools.add(contributor)
    state.skipped.delete(registered.plugin.name)
    announce(state, "plugin.exposed", registered.plugin.name)
  })
}

/** Out of reach first, then shut down: no call can meet a plugin that is going away. Hidden even if that fails. */
export async function unexposePlugin(state: RegistryState, registered: RegisteredPlugin): Promise<void> {
  return inTurn(registered, async () => {
    if (registered.exposure === "hidden") return
    const { plugin } = registered
    registered.exposure = "hidden"
    for (const contributor of toContributors(registered)) state.tools.remove(contributor)
    announce(state, "plugin.unexposed", plugin.name)
    try {
      await plugin.shutdown?.()
    } catch (error) {
      throw new MeanwhileError(
        "plugin_unavailable",
        `Plugin "${plugin.name}" did not shut down: ${toErrorMessage(error)}`,
        { plugin: plugin.name },
        { cause: error },
      )
    }
  })
}

async function initialize(state: RegistryState, { plugin, config }: RegisteredPlugin): Promise<boolean> {
  const { name, modelRequirements } = plugin
  const { models } = state
  if (models.length > 0 && !models.some((model) => meetsModelRequirements(modelRequirements, model))) {
    const wanted = modelRequirements?.join(", ")
    skip(
      state,
      name,
      "model_requirement",
      `Plugin "${name}" needs one of ${wanted}; the model is ${models.join(", ")}.`,
    )
    return false
  }
  try {
    await plugin.initialize?.(config, createPluginHost(state, name))
    return true
  } catch (error) {
    skip(state, name, "failed_to_initialize", `Plugin "${name}" did not initialize: ${toErrorMessage(error)}`)
    return false
  }
}

function inTurn(registered: RegisteredPlugin, change: () => Promise<void>): Promise<void> {
  const done = registered.turn.then(change)
  registered.turn = done.catch(() => undefined)
  return done
}
