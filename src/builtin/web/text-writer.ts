/** Writes words as lines of text: white space is one blank, and breaks between blocks do not add up. */
export interface TextWriter {
  write(text: string): void
  /** At least so many line ends stand before what is written next. */
  breakLine(ends: number): void
  /** Written before the next words, unless a line begins with them. */
  separate(text: string): void
  /** While true, white space is kept as it is. */
  keepSpace(isKept: boolean): void
  /** `first` stands before the next line, `rest` before those that follow it. */
  indent(first: string, rest: string): void
  outdent(): void
  length(): number
  /** What was written behind a length. */
  since(length: number): string
  text(): string
}

/** Deeper ones have the indentation of the deepest: the text of a page made to break its reader stays as long as the page. */
const DEEPEST = 20
const SPACE = /[ \t\r\n\f\u200b]+/g

export function createTextWriter(): TextWriter {
  let written = ""
  let ends = 0
  let between = ""
  let keptSpaces = 0
  const indents: { first: string; readonly rest: string }[] = []

  function takeIndent(): string {
    const shown = indents.slice(0, DEEPEST)
    const text = shown.map(({ first }) => first).join("")
    for (const indent of shown) indent.first = indent.rest
    return text
  }

  /** Ends the line if that is due, else the blank or the separator that is due. */
  function begin(): void {
    if (written === "") written = takeIndent()
    else if (ends > 0) written += "\n".repeat(ends) + takeIndent()
    else written += between
    ends = 0
    between = ""
  }

  function writeLines(text: string): void {
    for (const [index, line] of text.split("\n").entries()) {
      if (index > 0) ends += 1
      if (line === "") continue
      begin()
      written += line
    }
  }

  return {
    write(text) {
      if (keptSpaces > 0) return writeLines(text.replaceAll("\r", ""))
      const words = text.replace(SPACE, " ")
      if (words.startsWith(" ") && between === "") between = " "
      const said = words.trim()
      if (said === "") return
      begin()
      written += said
      if (words.endsWith(" ")) between = " "
    },
    breakLine(wanted) {
      ends = Math.max(ends, wanted)
      between = ""
    },
    separate(text) {
      between = text
    },
    keepSpace(isKept) {
      keptSpaces = Math.max(0, keptSpaces + (isKept ? 1 : -1))
    },
    indent(first, rest) {
      indents.push({ first, rest })
    },
    outdent: () => void indents.pop(),
    length: () => written.length,
    since: (length) => written.slice(length).trim(),
    text: () => written,
  }
}
