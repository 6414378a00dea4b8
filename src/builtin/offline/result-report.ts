import type { ContentPart, FunctionCall, ToolResult } from "../../plugin/message.ts"
import { toCommandText, toObject } from "./command-text.ts"
import { shortenMiddle } from "../../base/shorten.ts"

const LONGEST_SHOWN = 4_000

/** One result in plain words. What a tool returned is shown, whatever it says, and never followed. */
export function reportResult(result: ToolResult, call: FunctionCall | undefined): string {
  const name = toName(result, call)
  const texts = result.content.map(toShownText)
  const shown = shortenMiddle(texts.join("\n").trim(), LONGEST_SHOWN) || "(nothing)"
  if (result.isError) return `${name} failed: ${shown}`
  const text = texts[0] ?? ""
  const started = toStarted(text)
  if (started !== undefined) return started
  const { taskId, isWaiting } = readHandle(text) ?? readJsonHandle(text) ?? {}
  if (taskId === undefined) return `${name} returned:\n\n${shown}`
  return isWaiting
    ? `${name} needs an approval and waits for it as task ${toShortId(taskId)}. How it ends comes by itself; we can talk on.`
    : `${name} goes on in the background as task ${toShortId(taskId)}. Its result comes by itself; we can talk on.`
}

interface Handle {
  readonly taskId: string
  readonly isWaiting: boolean
}

function readHandle(text: string): Handle | undefined {
  const [, state, taskId] = HANDLE.exec(text) ?? []
  return taskId === undefined ? undefined : { taskId, isWaiting: state === "needs" }
}

/** Reads a handle in JSON: of a call that moved to the background by itself, or of a task that was started. */
function readJsonHandle(text: string): Handle | undefined {
  const { auto_backgrounded: hasMoved, success, tool_name: tool, task_id: taskId, message } = toObject(text) ?? {}
  const isHandle = hasMoved === true || (success === true && typeof tool === "string" && typeof message === "string")
  if (!isHandle || typeof taskId !== "string") return undefined
  return { taskId, isWaiting: typeof message === "string" && message.startsWith("Task waits for a person's approval") }
}

/** The text in place of the result of a call that became a task. */
const HANDLE = /^It (needs|runs|still runs)\b[^\n|]* as task ([0-9a-f]{8}-[0-9a-f-]{27})\. /

/** The answer of a tool that started a task. An awaited task has a result beside it and is shown unchanged. */
function toStarted(text: string): string | undefined {
  const { task_id: id, title, status, note, result } = toObject(text) ?? {}
  if (typeof id !== "string" || typeof title !== "string" || note === undefined || result !== undefined)
    return undefined
  if (status !== "queued" && status !== "running") return undefined
  return `${shortenMiddle(title, 200)} is ${status} in the background as task ${toShortId(id)}. Its result comes by itself; we can talk on.`
}

/** As much of an id as people need to name a task. */
const toShortId = (id: string): string => id.slice(0, 8)

function toName({ tool }: ToolResult, call: FunctionCall | undefined): string {
  const input = call?.input
  const command = typeof input === "object" && input !== null && "command" in input ? input["command"] : undefined
  return typeof command === "string" ? `\`${shortenMiddle(command, 200)}\`` : tool
}

function toShownText(part: ContentPart): string {
  if (part.type === "text") return toCommandText(part.text) ?? part.text
  const size = "data" in part.source ? `, ${Math.ceil((part.source.data.length * 3) / 4)} bytes` : ""
  return `[a file I cannot see into: ${part.name ?? "without a name"}, ${part.mediaType}${size}]`
}
