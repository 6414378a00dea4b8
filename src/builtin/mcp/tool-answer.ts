import { z } from "zod"
import { type JsonObject, type JsonValue, toJson } from "../../base/json.ts"
import { lazily } from "../../base/lazily.ts"
import type { ContentPart } from "../../plugin/message.ts"
import { showModel, failWith, type ToolReturn } from "../../plugin/tool.ts"

const DIGEST_CHARACTERS = 300

const resource = lazily(() =>
  z.looseObject({
    uri: z.string().default(""),
    mimeType: z.string().optional(),
    text: z.string().optional(),
    blob: z.string().optional(),
  }),
)

const block = lazily(() =>
  z.looseObject({
    type: z.string(),
    text: z.string().optional(),
    data: z.string().optional(),
    mimeType: z.string().optional(),
    name: z.string().optional(),
    uri: z.string().optional(),
    description: z.string().optional(),
    resource: resource().optional(),
  }),
)

const toolResult = lazily(() =>
  z.looseObject({
    content: z.array(block()).default([]),
    structuredContent: z.unknown().optional(),
    isError: z.boolean().default(false),
  }),
)

type Block = z.output<ReturnType<typeof block>>

/** A server's result for the caller: text, content as it is, or a failure with the server's words. */
export function toToolAnswer(tool: string, result: JsonObject): JsonValue | ToolReturn {
  const parsed = toolResult().safeParse(result)
  if (!parsed.success) return failWith({ code: "server_error", message: `${tool} gave a result that is none.` }, result)
  const { content, structuredContent, isError } = parsed.data
  const parts = [...content.map(toPart), ...toStructuredPart(content, structuredContent)]
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []))
  const text = texts.join("\n")
  if (isError) return failWith({ code: "tool_error", message: toDigest(text) || `${tool} failed.` }, text)
  if (texts.length === parts.length) return text
  return showModel(parts, toDigest(text) || `${tool} returned ${parts.length} parts`)
}

function toPart(part: Block): ContentPart {
  const { type, text, data, mimeType = "application/octet-stream" } = part
  if (type === "text" && text !== undefined) return { type: "text", text }
  if ((type === "image" || type === "audio") && data !== undefined) {
    return { type: "file", mediaType: mimeType, source: { data } }
  }
  if (type === "resource" && part.resource) return toResourcePart(part.resource)
  if (type === "resource_link") return { type: "text", text: toLinkText(part) }
  return { type: "text", text: JSON.stringify(part) }
}

function toResourcePart({ uri, mimeType, text, blob }: z.output<ReturnType<typeof resource>>): ContentPart {
  if (blob !== undefined) {
    return { type: "file", mediaType: mimeType ?? "application/octet-stream", name: uri, source: { data: blob } }
  }
  return { type: "text", text: `Resource ${uri}:\n${text ?? ""}` }
}

function toLinkText({ name, uri = "", description }: Block): string {
  return `Resource ${[name, uri, description].filter((each) => each !== undefined && each !== "").join(", ")}`
}

/** Servers repeat structured content as text for those who do not know it: it is not shown twice. */
function toStructuredPart(content: readonly Block[], structured: unknown): readonly ContentPart[] {
  if (structured === undefined) return []
  const isRepeated = content.some(({ text }) => text !== undefined && isSame(text, structured))
  return isRepeated ? [] : [{ type: "text", text: JSON.stringify(structured) }]
}

function isSame(text: string, structured: unknown): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(toJson(structured))
  } catch {
    return false
  }
}

function toDigest(text: string): string {
  return text.replace(/\s+/g, " ").trim().slice(0, DIGEST_CHARACTERS)
}
