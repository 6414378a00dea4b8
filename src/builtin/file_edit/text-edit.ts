import { MeanwhileError } from "../../base/error.ts"

/** One place of a text, and what comes instead of it. */
export interface TextEdit {
  readonly oldText: string
  readonly newText: string
}

/** Refuses unless the old text occurs exactly once. `path` is for the refusal. */
export function applyEdit(text: string, edit: TextEdit, path: string): string {
  const { oldText, newText } = toLineEndsOf(text, edit)
  const start = text.indexOf(oldText)
  if (start < 0) {
    const message = `old_text does not occur in "${path}". Read the file and copy it exactly, with its spaces.`
    throw new MeanwhileError("invalid_input", message, { path })
  }
  if (text.includes(oldText, start + 1)) {
    const message = `old_text occurs more than once in "${path}". Add lines before or after it until it occurs once.`
    throw new MeanwhileError("invalid_input", message, { path })
  }
  return text.slice(0, start) + newText + text.slice(start + oldText.length)
}

/** Whether this very edit makes the one text of the other. */
export function leadsTo(before: string, edit: TextEdit, after: string): boolean {
  try {
    return applyEdit(before, edit, "") === after
  } catch {
    return false
  }
}

/** Models write `\n`. In a file whose lines end in `\r\n` that is meant, and put in again. */
function toLineEndsOf(text: string, edit: TextEdit): TextEdit {
  const isForeign = text.includes("\r\n") && !/(?<!\r)\n/.test(text) && !edit.oldText.includes("\r")
  if (!isForeign) return edit
  const toCrlf = (part: string): string => part.replace(/\r?\n/g, "\r\n")
  return { oldText: toCrlf(edit.oldText), newText: toCrlf(edit.newText) }
}
