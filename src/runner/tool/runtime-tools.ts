import { RUNTIME_PLUGIN } from "../../task/runtime-plugin.ts"
import type { GroupId } from "../../task/id.ts"
import type { TaskRecord } from "../../task/record.ts"

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

export const GATE_PLUGIN = TURN_PLUGIN
export const GATE_TOOL = "apply_results"

/** Marks the question whether a group's results are used, so that its answer is understood. */
export const GATE_QUESTION = "apply_results"

export const GATE_PREFIX = "gate/"

/** A group has one gate, however often and by whomever it is asked for. */
export function toGateKey(group: GroupId): string {
  return `${GATE_PREFIX}${group}`
}

/** The group whose results wait behind this task; null when it is no gate. */
export function groupOfGate({
  plugin,
  tool,
  idempotencyKey,
}: Pick<TaskRecord, "plugin" | "tool" | "idempotencyKey">): GroupId | null {
  if (plugin !== GATE_PLUGIN || tool !== GATE_TOOL || !idempotencyKey?.startsWith(GATE_PREFIX)) return null
  return idempotencyKey.slice(GATE_PREFIX.length) as GroupId
}
