import { MeanwhileError } from "../base/error.ts"
import type { PluginHost } from "./plugin-host.ts"
import { refreshTools } from "./refresh-tools.ts"
import type { RegistryChange, RegistryState } from "./registry-state.ts"

const TOOL_CHANGES: ReadonlySet<RegistryChange["type"]> = new Set([
  "plugin.exposed",
  "plugin.unexposed",
  "plugin.tools_changed",
])

/** What the registry hands to this plugin. It is not told of changes of its own tools: it made them. */
export function createPluginHost(state: RegistryState, name: string): PluginHost {
  return {
    tools: () => state.tools.all().map(({ plugin, tool }) => ({ plugin, tool })),
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
