import type { JsonObject } from "../../../base/json.ts"
import { toOneLine } from "../../../base/one-line.ts"
import { handBack, type ToolReturn } from "../../../plugin/tool.ts"

/** The model reads all of it, people the headline. */
export function answer(headline: string, payload: JsonObject): ToolReturn {
  return handBack({ digest: [toOneLine(headline)], facts: {}, artifacts: [], nextSteps: [], payload })
}
