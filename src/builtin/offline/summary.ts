import { type Message, textOf } from "../../plugin/message.ts"
import type { ModelRequest } from "../../plugin/model.ts"
import { shorten } from "./shorten.ts"

const HEAD_LINES = 3
const TAIL_LINES = 12
const LONGEST_LINE = 200

/** A request about a conversation rather than in one: its system text asks for a summary and no tool is offered. */
export function isSummaryRequest({ system, tools }: ModelRequest): boolean {
  return tools.length === 0 && /\bsummar(?:y|i[sz]e)\b/i.test(system)
}

/** It cannot tell what matters: it quotes the beginning and the end. */
export function quoteConversation(messages: readonly Message[]): string {
  const lines = messages
    .flatMap((message) => textOf(message).split("\n"))
    .map(toPlainLine)
    .filter((line) => line !== "")
  const isLong = lines.length > HEAD_LINES + TAIL_LINES
  const head = isLong ? lines.slice(0, HEAD_LINES) : lines
  const tail = isLong ? [`(${lines.length - HEAD_LINES - TAIL_LINES} lines left out)`, ...lines.slice(-TAIL_LINES)] : []
  return ["The offline model quotes what it cannot sum up:", ...head, ...tail].join("\n")
}

/** A line of a transcript in JSON as its values. */
function toPlainLine(line: string): string {
  return shorten(toValues(line).join(": ").replace(/\s+/g, " ").trim(), LONGEST_LINE)
}

function toValues(line: string): readonly string[] {
  if (!line.startsWith("{")) return [line]
  try {
    return Object.values(JSON.parse(line) as Record<string, unknown>).filter((value) => typeof value === "string")
  } catch {
    return [line]
  }
}
