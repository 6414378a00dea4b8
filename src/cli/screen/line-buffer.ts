/** Collects pieces of text into whole lines. */
export interface LineBuffer {
  push(text: string): void
  /** Hands on the beginning of a line that was not ended. */
  flush(): void
}

/** A longer line is handed on in parts: some programs never end their lines. */
const LONGEST_LINE = 8_192

/** `onLines` gets the lines that a piece has ended, without line ends. */
export function createLineBuffer(onLines: (lines: readonly string[]) => void): LineBuffer {
  let rest = ""

  function flush(): void {
    if (rest === "") return
    const line = rest
    rest = ""
    onLines([line])
  }

  return {
    flush,
    push(text) {
      const lines = `${rest}${text}`.split("\n")
      rest = lines.pop() ?? ""
      if (lines.length > 0) onLines(lines)
      if (rest.length > LONGEST_LINE) flush()
    },
  }
}
