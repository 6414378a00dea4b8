/** No plugin can have it: names of plugins begin with a letter. */
export const TURN_PLUGIN = "#runtime"
export const TURN_TOOL = "turn"

export function isTurn({
  plugin,
  tool,
}: {
  readonly plugin: string
  readonly tool: { readonly name: string }
}): boolean {
  return plugin === TURN_PLUGIN && tool.name === TURN_TOOL
}
