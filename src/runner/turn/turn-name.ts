/** No plugin can have it: names of plugins begin with a letter. */
export const TURN_PLUGIN = "#runtime"
export const TURN_TOOL = "turn"
