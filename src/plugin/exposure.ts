import { MeanwhileError, toErrorMessage } from "../base/error.ts"
import { unlessAborted } from "../base/unless-aborted.ts"
import { type BackgroundCapable, runsElsewhere } from "./background-capable.ts"
import { carryTools } from "./carried-tools.ts"
import type { PluginHost } from "./plugin-host.ts"
import type { Plugin } from "./plugin.ts"
import {
  announce,
  type Exposure,
  inTurn,
  meetsModelRequirements,
  type RegisteredPlugin,
  type RegistryChange,
  type RegistryState,
  skip,
  toContributors,
} from "./registry-state.ts"
import type { ContributingPlugin } from "./tool-index.ts"
import type { Tool } from "./tool.ts"

const MOST_MODELS_NAMED = 6
const LONGEST_SHUTDOWN_MS = 10_000

/**
 * Contract: resolves once the plugin is initialized and reachable, or once the reason why it is not is among the
 * skipped. A plugin that cannot be exposed is not an error of the caller.
 */
export async function exposePlugin(
  state: RegistryState,
  registered: RegisteredPlugin,
  exposure: Exclude<Exposure, "hidden">,
): Promise<void> {
  return inTurn(registered, async () => {
    if (registered.exposure === exposure || registered.exposure === "full") return
    if (registered.exposure === "hidden" && !(await initialize(state, registered))) return
    if (exposure === "full" && !(await addTools(state, registered))) return
    registered.exposure = exposure
    state.skipped.delete(registered.plugin.name)
    announce(state, "plugin.exposed", registered.plugin.name)
  })
}

/**
 * Hides the plugin first and then shuts it down, so that no call meets a plugin that is closing. It is hidden even if
 * the shutdown fails.
 */
export async function unexposePlugin(state: RegistryState, registered: RegisteredPlugin): Promise<void> {
  return inTurn(registered, async () => {
    if (registered.exposure === "hidden") return
    const { plugin } = registered
    registered.exposure = "hidden"
    for (const contributor of toContributors(registered)) state.tools.remove(contributor)
    announce(state, "plugin.unexposed", plugin.name)
    try {
      await shutDown(state, plugin)
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

async function initialize(state: RegistryState, registered: RegisteredPlugin): Promise<boolean> {
  const { plugin, config } = registered
  const { name, modelRequirements } = plugin
  const { models } = state
  if (models.length > 0 && !models.some((model) => meetsModelRequirements(modelRequirements, model))) {
    skip(state, name, "model_requirement", describeOtherModel(registered, models))
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

function describeOtherModel(registered: RegisteredPlugin, models: readonly string[]): string {
  const { name, modelRequirements = [] } = registered.plugin
  const tools = toContributors(registered).flatMap((contributor) => (contributor.tools ?? []).map((tool) => tool.name))
  const lost = tools.length > 0 ? ` Without it there is no ${tools.join(", ")}.` : ""
  const named = modelRequirements.slice(0, MOST_MODELS_NAMED).join(", ")
  const others = modelRequirements.length - MOST_MODELS_NAMED
  const wanted = others > 0 ? `${named} and ${others} more` : named
  return `The ${name} plugin is off: it is for ${wanted}, and not for ${models.join(", ")}.${lost}`
}

/** Rejects if the plugin takes too long. It is then left alone, so that it cannot keep other plugins from closing. */
async function shutDown({ clock }: RegistryState, plugin: Plugin): Promise<void> {
  const limit = new AbortController()
  const stop = (): void => limit.abort(new Error(`it took longer than ${LONGEST_SHUTDOWN_MS / 1_000} s`))
  const cancelTimer = clock.schedule(LONGEST_SHUTDOWN_MS, stop)
  try {
    await unlessAborted(limit.signal, Promise.resolve(plugin.shutdown?.()))
  } finally {
    cancelTimer()
  }
}

async function addTools(state: RegistryState, registered: RegisteredPlugin): Promise<boolean> {
  const { plugin, exposure } = registered
  try {
    for (const contributor of toContributors(registered)) {
      const tools = runsElsewhere(contributor) ? await carryTools(contributor) : (contributor.tools ?? [])
      state.tools.add(contributor, tools)
    }
    return true
  } catch (error) {
    if (exposure === "hidden") await shutDown(state, plugin).catch(() => undefined)
    const message = `Plugin "${plugin.name}" did not say which of its tools run in the background: ${toErrorMessage(error)}`
    skip(state, plugin.name, "failed_to_initialize", message)
    return false
  }
}

const TOOL_CHANGES: ReadonlySet<RegistryChange["type"]> = new Set([
  "plugin.exposed",
  "plugin.unexposed",
  "plugin.tools_changed",
])

/**
 * The host that the registry hands to this plugin. The plugin is not told of changes to its own tools, which it made
 * itself.
 */
function createPluginHost(state: RegistryState, name: string): PluginHost {
  return {
    tools: () =>
      state.tools.all().map(({ plugin, tool, owner }) => ({ plugin, tool, isPrivate: owner.isPrivate === true })),
    onToolsChanged(listener) {
      const hear = ({ type, plugin }: RegistryChange): void => {
        if (TOOL_CHANGES.has(type) && plugin !== name) listener()
      }
      state.listeners.add(hear)
      return () => state.listeners.delete(hear)
    },
    refreshTools: () => refreshTools(state, name),
    get tasks() {
      const tasks = state.tasks?.()
      if (tasks) return tasks
      const message = `Plugin "${name}" asked for tasks before the runtime was there. Use them in calls, not in \`initialize\`.`
      throw new MeanwhileError("wrong_state", message, { plugin: name })
    },
  }
}

/**
 * Reads the tools of an exposed plugin again after its list has changed. A plugin that runs its work elsewhere is first
 * asked what the tools can do.
 */
export function refreshTools(state: RegistryState, name: string): void {
  const registered = state.plugins.get(name)
  if (registered?.exposure !== "full") return
  for (const contributor of toContributors(registered)) {
    if (!runsElsewhere(contributor)) replaceTools(state, contributor, contributor.tools ?? [])
    else void askAgain(state, registered, contributor)
  }
}

/** A plugin that cannot list its tools now keeps its earlier ones. */
async function askAgain(
  state: RegistryState,
  registered: RegisteredPlugin,
  contributor: ContributingPlugin & BackgroundCapable,
): Promise<void> {
  await inTurn(registered, async () => {
    if (registered.exposure !== "full") return
    replaceTools(state, contributor, await carryTools(contributor))
  }).catch(() => undefined)
}

function replaceTools(state: RegistryState, contributor: ContributingPlugin, tools: readonly Tool[]): void {
  state.tools.remove(contributor)
  state.tools.add(contributor, tools)
  announce(state, "plugin.tools_changed", contributor.name)
}
