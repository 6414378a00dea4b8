/** Puts a message together from lines: those of a paste, and those that end with a backslash, belong to the next. */
export function createMessageLines() {
  let begun: string[] = []
  let isPasting = false

  return {
    /** From here on, until the end, lines are parts of what is pasted. */
    beginPaste(): void {
      isPasting = true
    },
    /** How many lines of a message have begun with it. */
    endPaste(): number {
      isPasting = false
      return begun.length
    },
    /** The whole message, or undefined when the line goes on. */
    add(line: string): string | undefined {
      const isContinued = !isPasting && line.endsWith("\\")
      const lines = [...begun, isContinued ? line.slice(0, -1) : line]
      begun = isPasting || isContinued ? lines : []
      return begun.length > 0 ? undefined : lines.join("\n")
    },
    isBegun: (): boolean => begun.length > 0,
    /** Forgets the lines of the message so far. False when there are none. */
    takeBack(): boolean {
      const hadLines = begun.length > 0
      begun = []
      return hadLines
    },
  }
}
