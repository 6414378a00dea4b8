/** Stands before every line that somebody else wrote: no such line can pass for one of Meanwhile's own. */
export const MARGIN = "│ "

/** The text with the margin. Of several empty lines in a row one line of our own, without the margin, gives the number. */
export function toQuotedText(text: string): string {
  const quoted: string[] = []
  let empty = 0
  const endEmpty = (): void => {
    if (empty > 0) quoted.push(empty === 1 ? MARGIN.trimEnd() : `… ${empty} empty lines`)
    empty = 0
  }
  for (const line of text.replace(/\n$/, "").split("\n")) {
    if (line.trim() === "") {
      empty += 1
      continue
    }
    endEmpty()
    quoted.push(`${MARGIN}${line}`)
  }
  endEmpty()
  return quoted.join("\n")
}
