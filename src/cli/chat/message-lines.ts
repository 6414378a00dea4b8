/** Puts a message together from lines: those of a paste, and those that end with a backslash, belong to the next. */
export interface MessageLines {
  /** From here on, until the end, lines are parts of what is pasted. */
  beginPaste(): void
  /** How many lines of a message have begun with it. */
  endPaste(): number
  /** The whole message, or undefined when the line goes on. */
  add(line: string): string | undefined
  isBegun(): boolean
  /** Forgets the lines of the message so far. False when there are none. */
  takeBack(): boolean
}

export function createMessageLines(): MessageLines {
  let begun: string[] = []
  let isPasting = false

  return {
    beginPaste() {
      isPasting = true
    },
    endPaste() {
      isPasting = false
      return begun.length
    },
    add(line) {
      const isContinued = !isPasting && line.endsWith("\\")
      const lines = [...begun, isContinued ? line.slice(0, -1) : line]
      begun = isPasting || isContinued ? lines : []
      return begun.length > 0 ? undefined : lines.join("\n")
    },
    isBegun: () => begun.length > 0,
    takeBack() {
      const hadLines = begun.length > 0
      begun = []
      return hadLines
    },
  }
}
