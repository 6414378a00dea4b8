import type { JsonObject } from "../../base/json.ts"
import { handBack, type ToolReturn } from "../../plugin/tool.ts"
import { hashOf } from "./file-state.ts"
import { measureChange } from "./file-diff.ts"
import type { PlannedChange } from "./working-files.ts"

/** The answer of a tool about a change it made. `more` is added to the payload. */
export async function toChangeAnswer(change: PlannedChange, more: JsonObject = {}): Promise<ToolReturn> {
  const { place, before, after } = change
  const isSame = (before?.hash ?? null) === (after ? hashOf(after) : null)
  const status = isSame ? "unchanged" : !after ? "removed" : before ? "updated" : "created"
  const size = isSame ? undefined : await measureChange(change)
  const lines = size ? ` (+${size.addedLines} -${size.removedLines} lines)` : ""
  const digest = isSame ? `${place.path} is already so: nothing changed` : `${status} ${place.path}${lines}`
  const payload = { path: place.path, status, ...size, ...more }
  return handBack({ digest: [digest], facts: {}, artifacts: [], nextSteps: [], payload })
}
