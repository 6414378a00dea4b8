import type { GroupId } from "../../task/id.ts"
import type { TaskRecord } from "../../task/record.ts"
import { TURN_PLUGIN } from "./turn-name.ts"

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
