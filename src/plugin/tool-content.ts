import type { JsonValue } from "../base/json.ts"
import type { ContentPart } from "./message.ts"
import { handBack, type ToolReturn } from "./tool-return.ts"

const CONTENT_KEY = "modelContent"

/** Hands back what the model should see as it is, images and files included. `digest` is the line for lists and notices. */
export function showModel(content: readonly ContentPart[], digest: string): ToolReturn {
  const payload = { [CONTENT_KEY]: content as unknown as JsonValue }
  return handBack({ digest: [digest], facts: {}, artifacts: [], nextSteps: [], payload })
}

/** The content of a payload made by `showModel`; undefined for any other. */
export function contentOf(payload: JsonValue): readonly ContentPart[] | undefined {
  if (typeof payload !== "object" || payload === null || !(CONTENT_KEY in payload)) return undefined
  return payload[CONTENT_KEY] as unknown as readonly ContentPart[]
}
