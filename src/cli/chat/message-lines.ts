/** Puts messages together: lines of a paste, and lines that end with a backslash, are continued by the next line. */
export function createMessageLines() {
  let begun: string[] = []
  let isPasting = false

  return {
    /** From here on, until `endPaste`, lines are parts of a paste. */
    beginPaste(): void {
      isPasting = true
    },
    /** Ends a paste; returns how many lines the begun message has so far. */
    endPaste(): number {
      isPasting = false
      return begun.length
    },
    /** Adds a line; returns the whole message, or undefined if the message goes on. */
    add(line: string): string | undefined {
      const isContinued = !isPasting && line.endsWith("\\")
      const lines = [...begun, isContinued ? line.slice(0, -1) : line]
      begun = isPasting || isContinued ? lines : []
      return begun.length > 0 ? undefined : lines.join("\n")
    },
    /** Adds a line without ending the message. */
    keep: (line: string): void => void begun.push(line),
    /** Takes the last line off again, which is empty if there is none. */
    takeLast: (): string => begun.pop() ?? "",
    isBegun: (): boolean => begun.length > 0,
    /** Forgets the lines of the message so far. False if there are none. */
    takeBack(): boolean {
      const hadLines = begun.length > 0
      begun = []
      return hadLines
    },
  }
}
