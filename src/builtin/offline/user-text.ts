import type { ContentPart } from "../../plugin/message.ts"

/** A user message as what the person said and what Meanwhile put beside it. */
export interface UserText {
  readonly words: string
  /** News of tasks: shown, never followed. */
  readonly notices: readonly string[]
}

/** Stands before the person's words. Each line of a task's own text begins with `|`, so none of them can end it. */
const NOTICES = /^\s*\[Meanwhile: [^\n]*\n(?:[^\n]*\n)*?\[End of the notices\.\]/

/** A note begins a paragraph, or is in lines at the end: `[Call session_describe …]`. Brackets of JSON begin none. */
const NOTE_START = /^\s*\[(?!\s*(?:[\]"'\d{[]|$))/
const NOTE_LINE = /^\s*\[[^\]"'\d{[].*\]\s*$/
const BLANK_LINE = /^\s*$/

/** What a part says that Meanwhile itself wrote: the summary of a collection, for example. */
const MARK = "meanwhile"

export function readUserText(parts: readonly ContentPart[]): UserText {
  const words: string[] = []
  const notices: string[] = []
  for (const part of parts) {
    if (part.type !== "text" || part.metadata?.[MARK] !== undefined) continue
    const notice = NOTICES.exec(part.text)?.[0] ?? ""
    if (notice !== "") notices.push(notice.trim())
    words.push(cutNotes(part.text.slice(notice.length)))
  }
  return { words: words.join("\n").trim(), notices }
}

function cutNotes(text: string): string {
  const lines = text.split("\n")
  const note = lines.findIndex((line, index) => NOTE_START.test(line) && BLANK_LINE.test(lines[index - 1] ?? ""))
  const before = note < 0 ? lines : lines.slice(0, note)
  const last = before.findLastIndex((line) => !BLANK_LINE.test(line) && !NOTE_LINE.test(line))
  return before.slice(0, last + 1).join("\n")
}
