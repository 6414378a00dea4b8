import { MeanwhileError } from "../../base/error.ts"
import { type Admitted, toPolicy, toRequestedTimeoutMs } from "../admit/details.ts"
import type { HasConfig } from "../run/scope.ts"

/**
 * How long the caller of a recorded call waits; null: until the end. No time limit counts in the queue, so the caller
 * gets the handle at the threshold, whatever the limit.
 */
export function toWaitMs(scope: HasConfig, admitted: Admitted): number | null {
  if (admitted.approval) return 0
  const policy = toPolicy(admitted.tool, admitted.input)
  if (policy.mode === "always") return 0
  const thresholdMs = toThresholdMs(scope, admitted)
  return policy.mode === "after" ? (thresholdMs ?? policyMs(scope, policy)) : thresholdMs
}

/**
 * Null: no threshold promotes the call. A time limit must exceed the threshold: a shorter one is refused when the caller
 * or the tool set it. The author of an input cannot know the threshold, so a limit from the input simply ends the call.
 */
export function toThresholdMs(scope: HasConfig, { call, tool, input }: Admitted): number | null {
  const policy = toPolicy(tool, input)
  if (policy.mode !== "after") return null
  const thresholdMs = policyMs(scope, policy)
  const timeoutMs = toRequestedTimeoutMs(call, tool, input)
  if (timeoutMs === undefined || timeoutMs === null || timeoutMs > thresholdMs) return thresholdMs
  if (call.timeoutMs === undefined && typeof tool.timeoutMs === "function") return null
  throw new MeanwhileError(
    "invalid_input",
    `The time limit of ${timeoutMs} ms must exceed the ${thresholdMs} ms after which ${call.tool} moves to the background. Raise it, or start the call in the background.`,
    { field: "timeoutMs", thresholdMs },
  )
}

function policyMs(scope: HasConfig, policy: { readonly ms?: number }): number {
  return policy.ms ?? scope.config.thresholdSeconds * 1_000
}
