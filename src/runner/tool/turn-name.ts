import { RUNTIME_PLUGIN } from "../../task/runtime-plugin.ts"

export const TURN_PLUGIN = RUNTIME_PLUGIN
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

export const QUESTION_TOOL = "question"

/** Every idempotency key of a question begins with this. */
export const QUESTION_PREFIX = "question/"
