import type { JsonValue } from "../../base/json.ts"
import type { ToolContext } from "../../plugin/context.ts"

/** Which references a conversation has taken in. Their text is in the conversation itself. */
export type SelectionOwner = Pick<ToolContext, "documents">

const SELECTED = "selected"

export async function readSelection({ documents }: SelectionOwner): Promise<ReadonlySet<string>> {
  return new Set(toIds(await documents.read(SELECTED)))
}

export async function addToSelection({ documents }: SelectionOwner, ids: readonly string[]): Promise<void> {
  const selected = await readSelection({ documents })
  if (ids.every((id) => selected.has(id))) return
  await documents.change(SELECTED, (before) => [...new Set([...toIds(before), ...ids])])
}

function toIds(kept: JsonValue | undefined): readonly string[] {
  return Array.isArray(kept) ? kept.filter((id) => typeof id === "string") : []
}
