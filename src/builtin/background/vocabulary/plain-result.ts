import type { JsonValue } from "../../../base/json.ts"
import { contentOf } from "../../../plugin/tool-content.ts"
import type { Patch } from "../../../task/patch.ts"

/** What a run handed back, as a value to read: of what was made to be shown, the text. */
export function toPlainResult({ payload, digest }: Patch): JsonValue {
  const shown = contentOf(payload)?.map((part) => (part.type === "text" ? part.text : `[${part.mediaType}]`))
  if (shown) return shown.join("\n")
  return payload === null && digest.length > 0 ? digest.join("\n") : payload
}
