import type { JsonValue } from "../base/json.ts"
import type { Patch } from "../task/patch.ts"

/**
 * No JSON value can have it, so that no plain value is taken for more than it is, whatever its keys are. In the global
 * registry: a plugin may come with a copy of Meanwhile of its own.
 */
const TOOL_RETURN: unique symbol = Symbol.for("meanwhile.tool-return")

/** A return value with more than plain data: made by `handBack` or `failWith`. */
export type ToolReturn =
  | { readonly [TOOL_RETURN]: "patch"; readonly patch: Patch }
  | { readonly [TOOL_RETURN]: "failure"; readonly failure: ToolFailure; readonly payload: JsonValue }

interface ToolFailure {
  readonly code: string
  readonly message: string
}

/** Digest, facts, artifacts and next steps apart from the payload. */
export function handBack(patch: Patch): ToolReturn {
  return { [TOOL_RETURN]: "patch", patch }
}

/** The tool did its work and the outcome is a failure: a test suite that fails, a command that exits with 1. */
export function failWith(failure: ToolFailure, payload: JsonValue = null): ToolReturn {
  return { [TOOL_RETURN]: "failure", failure, payload }
}

export function isToolReturn(value: unknown): value is ToolReturn {
  return typeof value === "object" && value !== null && TOOL_RETURN in value
}
