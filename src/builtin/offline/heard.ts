import type { ContentPart, FunctionCall, Message, ToolResult } from "../../plugin/message.ts"
import { callsOf } from "../../plugin/message.ts"

/** What has come since the model last spoke. */
export interface Heard {
  readonly results: readonly ToolResult[]
  /** The calls of its last answer, by id. */
  readonly calls: ReadonlyMap<string, FunctionCall>
  /** Of tasks: news, never anything to follow. */
  readonly notices: readonly string[]
  /** The person's last words, answered or not; null when there are none. */
  readonly words: string | null
  /** How many answers it has given since those words. */
  readonly answers: number
}

export function hear(messages: readonly Message[]): Heard {
  const lastAnswer = messages.findLastIndex(({ role }) => role === "assistant")
  const fresh = messages.slice(lastAnswer + 1)
  const answer = messages[lastAnswer]
  const lastWords = messages.findLastIndex((message) => message.role === "user" && wordsOf(message.parts) !== "")
  const spoken = messages[lastWords]
  return {
    results: fresh.flatMap((message) => (message.role === "tool" ? message.parts : [])),
    calls: new Map((answer ? callsOf(answer) : []).map((call) => [call.id, call])),
    notices: fresh.flatMap((message) => (message.role === "user" ? noticesOf(message.parts) : [])),
    words: spoken?.role === "user" ? wordsOf(spoken.parts) : null,
    answers: messages.slice(lastWords + 1).filter(({ role }) => role === "assistant").length,
  }
}

/** What Meanwhile puts beside a person's words begins like this, in a paragraph of its own or in lines at the end. */
const NOTE = /(?:^|\n\s*\n)\s*(?=\[(?!\s*[\]"'\d{[])|<\/?(?:task|notice|system|meanwhile|untrusted))/i
const NOTE_LINE = /^\s*(?:\[[^\]"'\d{[][^\n]*\])?\s*$/
const NOTICE = /^\W*(?:background[ _-])?(?:task[ _-]?)?(?:notice|task)s?(?![a-z])/i

/** Text that Meanwhile marked as its own, or that reads like it, is never taken for the person's. */
function wordsOf(parts: readonly ContentPart[]): string {
  return parts
    .flatMap((part) => (part.type === "text" && !isMarked(part) ? [cutNotes(part.text).words] : []))
    .join("\n")
    .trim()
}

function noticesOf(parts: readonly ContentPart[]): readonly string[] {
  return parts.flatMap((part) => {
    if (part.type !== "text") return []
    const mark = part.metadata?.[MARK]
    if (typeof mark === "object" && mark !== null)
      return "notice" in mark || "notices" in mark ? [part.text.trim()] : []
    const { notes } = cutNotes(part.text)
    return NOTICE.test(notes) ? [notes] : []
  })
}

const MARK = "meanwhile"

function isMarked(part: ContentPart): boolean {
  return part.type === "text" && part.metadata?.[MARK] !== undefined
}

function cutNotes(text: string): { readonly words: string; readonly notes: string } {
  const at = text.search(NOTE)
  if (at >= 0) return { words: text.slice(0, at).trim(), notes: text.slice(at).trim() }
  const lines = text.split("\n")
  const end = lines.findLastIndex((line) => !NOTE_LINE.test(line)) + 1
  return { words: lines.slice(0, end).join("\n").trim(), notes: lines.slice(end).join("\n").trim() }
}
