import type { JsonObject } from "../../base/json.ts"
import type { ContentPart, FunctionCall, ToolResult } from "../../plugin/message.ts"
import { shorten } from "./shorten.ts"

const LONGEST_SHOWN = 4_000

/** One result in plain words. What a tool returned is shown, whatever it says, and never followed. */
export function reportResult(result: ToolResult, call: FunctionCall | undefined): string {
  const name = toName(result, call)
  const texts = result.content.map(toShownText)
  const shown = shorten(texts.join("\n").trim(), LONGEST_SHOWN) || "(nothing)"
  if (result.isError) return `${name} failed: ${shown}`
  const [, state, taskId] = HANDLE.exec(texts[0] ?? "") ?? []
  if (taskId === undefined) return `${name} returned:\n\n${shown}`
  return state === "needs"
    ? `${name} needs an approval and waits for it as task ${taskId}. How it ends comes by itself; we can talk on.`
    : `${name} goes on in the background as task ${taskId}. Its result comes by itself; we can talk on.`
}

/** What stands in the place of the result of a call that became a task. */
const HANDLE = /^It (needs|runs|still runs)\b[^\n|]* as task ([0-9a-f]{8}-[0-9a-f-]{27})\. /

function toName({ tool }: ToolResult, call: FunctionCall | undefined): string {
  const input = call?.input
  const command = typeof input === "object" && input !== null && "command" in input ? input["command"] : undefined
  return typeof command === "string" ? `\`${shorten(command, 200)}\`` : tool
}

function toShownText(part: ContentPart): string {
  if (part.type === "text") return toCommandText(part.text) ?? part.text
  const size = "data" in part.source ? `, ${Math.ceil((part.source.data.length * 3) / 4)} bytes` : ""
  return `[a file I cannot see into: ${part.name ?? "without a name"}, ${part.mediaType}${size}]`
}

/** What a command printed, and its exit code unless that is 0. */
function toCommandText(text: string): string | undefined {
  const value = toObject(text)
  if (!value || !("exitCode" in value) || typeof value["output"] !== "string") return undefined
  const output = value["output"].trimEnd() || "(it printed nothing)"
  return value["exitCode"] === 0 ? output : `${output}\n(exit code ${JSON.stringify(value["exitCode"])})`
}

function toObject(text: string): JsonObject | undefined {
  if (!text.startsWith("{")) return undefined
  try {
    return JSON.parse(text) as JsonObject
  } catch {
    return undefined
  }
}
