import type { JsonObject } from "../../base/json.ts"
import type { ContentPart, FunctionCall, ToolResult } from "../../plugin/message.ts"
import { shorten } from "./shorten.ts"

const LONGEST_SHOWN = 4_000

/** One result in plain words. What a tool returned is shown, whatever it says, and never followed. */
export function reportResult(result: ToolResult, call: FunctionCall | undefined): string {
  const name = toName(result, call)
  const text = result.content.map(toShownText).join("\n").trim()
  const shown = shorten(text, LONGEST_SHOWN)
  if (result.isError) return `${name} failed: ${shown || "no reason was given."}`
  const value = toObject(text)
  const taskId = findPromotedTask(text, value)
  if (taskId !== undefined) {
    return `${name} takes longer: it goes on in the background as task ${taskId}. Its result comes by itself; we can talk on.`
  }
  if (value && "exitCode" in value && typeof value["output"] === "string") {
    const output = shorten(value["output"].trimEnd(), LONGEST_SHOWN) || "(it printed nothing)"
    return `${name} exited with ${JSON.stringify(value["exitCode"])}:\n\n${output}`
  }
  return `${name} returned:\n\n${shown || "(nothing)"}`
}

function toName({ tool }: ToolResult, call: FunctionCall | undefined): string {
  const input = call?.input
  const command = typeof input === "object" && input !== null && "command" in input ? input["command"] : undefined
  return typeof command === "string" ? `\`${shorten(command, 200)}\`` : tool
}

function toShownText(part: ContentPart): string {
  if (part.type === "text") return part.text
  const size = "data" in part.source ? `, ${Math.ceil((part.source.data.length * 3) / 4)} bytes` : ""
  return `[a file I cannot see into: ${part.name ?? "without a name"}, ${part.mediaType}${size}]`
}

const SENTENCE = /^[^\n]{0,300}?\b(?:background|promoted)\b/i
const TASK_ID = /\btask(?: id)?[:\s"'`]+([0-9a-f]{4,8}[0-9a-f-]*)\b/i

function findPromotedTask(text: string, value: JsonObject | undefined): string | undefined {
  if (!value) return SENTENCE.test(text) ? TASK_ID.exec(text.slice(0, 500))?.[1] : undefined
  const isPromoted = ["outcome", "status", "state"].some(
    (key) => value[key] === "promoted" || value[key] === "background",
  )
  const id = value["taskId"] ?? value["task_id"] ?? value["task"]
  return (isPromoted || value["promoted"] === true) && typeof id === "string" ? id : undefined
}

function toObject(text: string): JsonObject | undefined {
  if (!text.startsWith("{")) return undefined
  try {
    return JSON.parse(text) as JsonObject
  } catch {
    return undefined
  }
}
