import type { Interface } from "node:readline"

/** Where the program writes. Announcements may come while a person types: the line being typed is drawn again. */
export interface Screen {
  readonly columns: number
  print(text: string): void
  /** Exactly as it is, without an added line end. */
  write(text: string): void
  /** Draws the prompt, and draws it again after each print, until a line was entered. */
  attach(prompt: Interface): void
  detach(): void
  /** Whether a line is being typed. */
  isAttached(): boolean
}

const USUAL_COLUMNS = 100

export interface ScreenOutput extends NodeJS.WritableStream {
  readonly isTTY?: boolean
  readonly columns?: number
}

export function createScreen(output: ScreenOutput): Screen {
  let prompt: Interface | undefined
  let isAtLineStart = true

  function write(text: string): void {
    if (text === "") return
    output.write(text)
    isAtLineStart = text.endsWith("\n")
  }

  /** What does not end its own line would be overwritten by what comes next. */
  function endLine(): void {
    if (!isAtLineStart) write("\n")
  }

  return {
    get columns() {
      return output.columns ?? USUAL_COLUMNS
    },
    write,
    print(text) {
      if (prompt && output.isTTY) output.write("\r\x1b[K")
      else endLine()
      write(`${text}\n`)
      prompt?.prompt(true)
    },
    attach(next) {
      endLine()
      prompt = next
      prompt.prompt()
    },
    detach() {
      prompt = undefined
    },
    isAttached: () => prompt !== undefined,
  }
}
