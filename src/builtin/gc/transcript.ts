import type { Message, Part } from "../../plugin/message.ts"
import { shortenText, toFileName } from "./shorten.ts"

const LONGEST_TEXT = 16_000
const LONGEST_RESULT = 4_000

/**
 * One line of JSON for every part: quoted like that, no text can pass for another entry or for the request around it.
 * Reasoning is left out: what came of it is in what follows.
 */
export function toTranscript(messages: readonly Message[], mostCharacters: number): readonly string[] {
  return messages.flatMap(({ role, parts }) =>
    parts.flatMap((part) => {
      const entry = toEntry(part, Math.max(1, mostCharacters))
      return entry ? [JSON.stringify({ by: role, ...entry })] : []
    }),
  )
}

function toEntry(part: Part, most: number): Readonly<Record<string, string | boolean>> | null {
  switch (part.type) {
    case "text":
      return { text: shortenText(part.text, Math.min(LONGEST_TEXT, most)) }
    case "file":
      return { file: toFileName(part) }
    case "call":
      return { calls: part.tool, input: shortenText(JSON.stringify(part.input), Math.min(LONGEST_RESULT, most)) }
    case "result": {
      const text = part.content.map((item) => (item.type === "text" ? item.text : `[${toFileName(item)}]`)).join("\n")
      return { resultOf: part.tool, isError: part.isError, text: shortenText(text, Math.min(LONGEST_RESULT, most)) }
    }
    case "reasoning":
      return null
  }
}
