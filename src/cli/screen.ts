import type { Interface } from "node:readline"

/** Where the program writes. Announcements may come while a person types: the line being typed is drawn again. */
export interface Screen {
  print(text: string): void
  /** Exactly as it is, without an added line end. */
  write(text: string): void
  /** Draws the prompt, and draws it again after each print, until a line was entered. */
  attach(prompt: Interface): void
  detach(): void
}

export function createScreen(output: NodeJS.WritableStream & { readonly isTTY?: boolean }): Screen {
  let prompt: Interface | undefined
  let isAtLineStart = true

  function write(text: string): void {
    if (text === "") return
    output.write(text)
    isAtLineStart = text.endsWith("\n")
  }

  return {
    write,
    print(text) {
      if (prompt && output.isTTY) output.write("\r\x1b[K")
      else if (!isAtLineStart) output.write("\n")
      write(`${text}\n`)
      prompt?.prompt(true)
    },
    attach(next) {
      prompt = next
      prompt.prompt()
    },
    detach() {
      prompt = undefined
    },
  }
}
