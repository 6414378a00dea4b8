import { plain } from "../format/format.ts"

/** Stands for a line end where a message of several lines is on one line again. */
const LINE_END = "␤"

/** What the arrow keys bring back: each message as one line, and nothing that answered a question. */
export interface RecalledLines {
  /** For readline, which adds every line to it. Newest first. */
  readonly list: string[]
  /** Takes away what readline has just added. Contract: called with the list whenever readline has changed it. */
  restore(list: string[]): void
  add(message: string): void
  /** The message that a line stands for. */
  toMessage(line: string): string
}

export interface RecalledLinesOptions {
  /** Newest first. */
  readonly earlier: readonly string[]
  readonly most: number
  /** Called with each message that is added. */
  readonly onAdded: (message: string) => void
}

export function createRecalledLines({ earlier, most, onAdded }: RecalledLinesOptions): RecalledLines {
  const known = earlier.map(toLine)
  let list = [...known]
  const show = (): void => void list.splice(0, list.length, ...known)
  return {
    list,
    restore(changed) {
      list = changed
      show()
    },
    add(message) {
      const line = toLine(message)
      if (line.trim() === "" || line === known[0]) return
      known.unshift(line)
      known.splice(most)
      show()
      onAdded(message)
    },
    toMessage: (line) => line.replaceAll(LINE_END, "\n"),
  }
}

const toLine = (message: string): string => plain(message).replaceAll("\n", LINE_END)
