/** This vocabulary's names for tools that are named differently here. Both names are accepted; these are shown. */
const PLUGINS: ReadonlyMap<string, string> = new Map([["shell", "cli"]])
const TOOLS: ReadonlyMap<string, string> = new Map([["run_command", "runCommand"]])

export function toPluginName(plugin: string): string {
  return PLUGINS.get(plugin) ?? plugin
}

export function toToolName(tool: string): string {
  return TOOLS.get(tool) ?? tool
}

export function isPlugin(plugin: string, name: string): boolean {
  return plugin === name || toPluginName(plugin) === name
}

export function isTool(tool: string, name: string): boolean {
  return tool === name || toToolName(tool) === name
}
