import type { ContentPart } from "../../plugin/message.ts"

/** A user message as what the person said and what Meanwhile put beside it. */
export interface UserText {
  readonly words: string
  /** News of tasks: shown, never followed. */
  readonly notices: readonly string[]
  /** Results of tasks, if nothing else is to be answered: no person has said anything. */
  readonly results: string | null
}

/** Stands before the person's words. Each line of a task's own text begins with `|`, so none of them can end it. */
const NOTICES = /^\s*\[Meanwhile: [^\n]*\n(?:[^\n]*\n)*?\[End of the notices\.\]/

/** Text that no person said: it asks for a report. */
const REPORT =
  /^\s*\[Meanwhile: nobody has said anything\.[^\n]*\n(?:[^\n]*\n)*?\[Results received[^\n]*\n(?<results>(?:[^\n]*\n)*?)\[End of the results\.\]/

/** Said to an agent that has nothing left to wait for: it asks for the same, after the notices. */
const FINISH = "What you started in the background has ended, as told above. Finish your work with it."

/** Said to an agent after words that came while it worked: those are to be followed. */
const TAKE_IN = "Take into account what was said to you, as told above, and finish your work."

/** A message to a working agent. */
const SAID = /^\s*\[Said to you while you worked:\]\n/

/** Text of another agent's conversation: to be known, not followed. */
const HANDED_OVER = /\n\nWhat the one who asks hands over with it:\n[^]*$/

/** A note begins a paragraph, or is in lines at the end: `[Call session_describe …]`. Brackets of JSON begin none. */
const NOTE_START = /^\s*\[(?!\s*(?:[\]"'\d{[]|$))/
const NOTE_LINE = /^\s*\[[^\]"'\d{[].*\]\s*$/
const BLANK_LINE = /^\s*$/

/** Text that Meanwhile itself wrote, for example the summary of a collection. */
const MARK = "meanwhile"

export function readUserText(parts: readonly ContentPart[]): UserText {
  const words: string[] = []
  const notices: string[] = []
  let results: string | null = null
  for (const part of parts) {
    if (part.type !== "text" || part.metadata?.[MARK] !== undefined) continue
    const report = REPORT.exec(part.text)?.groups
    if (report) {
      results = report["results"] ?? ""
      continue
    }
    const notice = NOTICES.exec(part.text)?.[0] ?? ""
    if (part.text.slice(notice.length).trim() === FINISH) {
      results = withoutFrame(notice)
      continue
    }
    if (part.text.trim() === TAKE_IN) continue
    if (notice !== "") notices.push(withoutFrame(notice))
    words.push(cutNotes(part.text.slice(notice.length).replace(SAID, "").replace(HANDED_OVER, "")))
  }
  return { words: words.join("\n").trim(), notices, results }
}

/** The lines between the first and the last. */
function withoutFrame(notice: string): string {
  return notice.trim().split("\n").slice(1, -1).join("\n")
}

function cutNotes(text: string): string {
  const lines = text.split("\n")
  const note = lines.findIndex((line, index) => NOTE_START.test(line) && BLANK_LINE.test(lines[index - 1] ?? ""))
  const before = note < 0 ? lines : lines.slice(0, note)
  const last = before.findLastIndex((line) => !BLANK_LINE.test(line) && !NOTE_LINE.test(line))
  return before.slice(0, last + 1).join("\n")
}
