import { formatDuration, formatLimit, plain, shortId, toLine } from "./format.ts"
import type { Style } from "../screen/style.ts"
import type { EventOf } from "./agent-event.ts"
import { shorten } from "../../base/shorten.ts"
import { toVisibleText } from "../../base/visible-text.ts"

type CallInput = EventOf<"tool_call.started">["input"]

const INPUT_CHARACTERS = 80
const SUMMARY_CHARACTERS = 120

export function formatCall({ tool, input }: Pick<EventOf<"tool_call.started">, "tool" | "input">): string {
  return toLine(`${tool} ${formatInput(input)}`)
}

/** The part of an input by which people recognise a call: its first text, else its values by name. */
function formatInput(input: CallInput): string {
  if (typeof input !== "object" || input === null)
    return shorten(toLine(toVisibleText(String(input ?? ""))), INPUT_CHARACTERS)
  const started = toStarted(input)
  if (started) return formatCall(started)
  const entries: [string, CallInput][] = Object.entries(input)
  const first = entries.find(([, value]) => typeof value === "string" && value.trim() !== "")
  const text = typeof first?.[1] === "string" ? first[1] : entries.map(toWords).join(", ")
  return shorten(toLine(toVisibleText(text)), INPUT_CHARACTERS)
}

/** The call that a call starts in the background, if it starts one: people recognise it by that. */
function toStarted(
  input: NonNullable<CallInput> & object,
): Pick<EventOf<"tool_call.started">, "tool" | "input"> | null {
  if (!("tool" in input) || !("input" in input)) return null
  const { tool, input: inner } = input
  return typeof tool === "string" && typeof inner === "object" && inner !== undefined ? { tool, input: inner } : null
}

function toWords([name, value]: readonly [string, CallInput]): string {
  if (Array.isArray(value)) return `${value.length} ${name}`
  return typeof value === "object" && value !== null ? name : `${name} ${String(value)}`
}

export function formatCallEnd(event: EventOf<"tool_call.ended">, style: Style): string {
  const { isSuccess, isRefused, durationMs, taskId, summary } = event
  const tool = plain(event.tool)
  const took = formatDuration(durationMs)
  if (taskId && event.isAwaitingApproval) {
    return style.yellow(`? ${tool} waits for your approval as [${shortId(taskId)}]`)
  }
  if (taskId) {
    const moved = `→ ${tool} moved to the background as [${shortId(taskId)}] after ${took}`
    return style.yellow(`${moved}${formatLimit(event.timeoutMs ?? null)}`)
  }
  const said = shorten(toLine(withoutJson(summary)), SUMMARY_CHARACTERS)
  const tail = said === "" ? "" : `: ${said}`
  if (isRefused) return style.yellow(`✗ ${tool} was refused${withoutName(said, tool)}`)
  if (isSuccess) return style.green(`✓ ${tool} ${took}`) + style.dim(tail)
  const exit = EXIT.exec(summary)?.[1]
  if (exit !== undefined) return style.red(`✗ ${tool} ${exit} after ${took}`)
  return style.red(`✗ ${tool} failed after ${took}${tail}`)
}

/** How a command ended. Which command it was stands in the line of its start. */
const EXIT = /` (exited with \d+|was ended by SIG\w+)\.?$/

/** Leaves out JSON, which is for the model: the part for people was printed. */
function withoutJson(summary: string): string {
  const at = summary.search(/(?:^|\s)(?:\{"|\{\}|\[[[{"\d\]])/)
  return at < 0 ? summary : summary.slice(0, at)
}

/** Takes the tool's name off the reason for a refusal: the line names the tool already. */
function withoutName(said: string, tool: string): string {
  const reason = said.startsWith(`${tool} was not allowed: `) ? said.slice(`${tool} was not allowed: `.length) : said
  return reason === "" ? "" : `: ${reason}`
}
