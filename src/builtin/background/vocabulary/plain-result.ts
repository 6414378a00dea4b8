import type { JsonValue } from "../../../base/json.ts"
import { contentOf } from "../../../plugin/tool.ts"
import type { Patch } from "../../../task/patch.ts"

/** The result of a run as plain data: text instead of content made for display. */
export function toPlainResult({ payload, digest }: Patch): JsonValue {
  const shown = contentOf(payload)?.map((part) => (part.type === "text" ? part.text : `[${part.mediaType}]`))
  if (shown) return shown.join("\n")
  return payload === null && digest.length > 0 ? digest.join("\n") : payload
}
