/** Puts messages together: lines of a paste, and lines that end with a backslash, are continued by the next line. */
export function createMessageLines() {
  let begun: string[] = []

  return {
    /** Adds a line; returns the whole message, or undefined if the message goes on, as after each line of a paste. */
    add(line: string, isPasting = false): string | undefined {
      const isContinued = !isPasting && line.endsWith("\\")
      const lines = [...begun, isContinued ? line.slice(0, -1) : line]
      begun = isPasting || isContinued ? lines : []
      return begun.length > 0 ? undefined : lines.join("\n")
    },
    /** Adds a line without ending the message. */
    keep: (line: string): void => void begun.push(line),
    /** Takes the last line off again, which is empty if there is none. */
    takeLast: (): string => begun.pop() ?? "",
    /** How many lines the message has so far. */
    count: (): number => begun.length,
    isBegun: (): boolean => begun.length > 0,
    /** Forgets the lines of the message so far. False if there are none. */
    takeBack(): boolean {
      const hadLines = begun.length > 0
      begun = []
      return hadLines
    },
  }
}
