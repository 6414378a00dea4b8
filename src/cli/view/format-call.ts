import { formatDuration, plain, shortId, toLine } from "../format.ts"
import type { Style } from "../screen/style.ts"
import type { EventOf } from "./agent-event.ts"

const INPUT_CHARACTERS = 80
const SUMMARY_CHARACTERS = 120

export function formatCall({ tool, input }: Pick<EventOf<"tool_call.started">, "tool" | "input">): string {
  return toLine(`${tool} ${formatInput(input)}`)
}

/** What a reader needs of a call's input: the one text in it, or the beginning of its JSON. */
function formatInput(input: EventOf<"tool_call.started">["input"]): string {
  const values = typeof input === "object" && input !== null ? Object.values(input) : [input]
  const [first, ...others] = values
  const text = typeof first === "string" && others.length === 0 ? first : JSON.stringify(input)
  return bound(toLine(text === "{}" || text === "null" ? "" : text), INPUT_CHARACTERS)
}

export function formatCallEnd(event: EventOf<"tool_call.ended">, style: Style): string {
  const { isSuccess, durationMs, taskId, summary } = event
  const tool = plain(event.tool)
  const took = formatDuration(durationMs)
  if (taskId) return style.yellow(`→ ${tool} moved to the background as [${shortId(taskId)}] after ${took}`)
  const said = bound(toLine(summary), SUMMARY_CHARACTERS)
  if (!isSuccess) return style.red(`✗ ${tool} failed after ${took}${said === "" ? "" : `: ${said}`}`)
  // JSON is for the model: what a person should see of it was printed.
  const tail = said === "" || /^[[{]/.test(said) ? "" : `: ${said}`
  return style.green(`✓ ${tool} ${took}`) + style.dim(tail)
}

function bound(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text
}
