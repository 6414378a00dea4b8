import type { JsonObject } from "../../../base/json.ts"
import type { MissingAbility } from "../../../plugin/worker-view.ts"

/** Why a queued task will not begin; nothing when somebody can run it. */
export function toLack(missing: MissingAbility | null | undefined): JsonObject {
  return missing ? { cannot_run: missing.text } : {}
}
