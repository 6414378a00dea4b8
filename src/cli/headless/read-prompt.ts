import { text as readAll } from "node:stream/consumers"
import type { ReadStream } from "node:tty"

const MOST_CHARACTERS = 256 * 1024
/** The longest wait for the first byte: a script may hold its pipe open and never write. */
const PATIENCE_MS = 3_000

/** The prompt: the argument with the piped text beside it, or the pipe alone when the argument is `-` or absent. */
export async function readPrompt(given: string | undefined, input: ReadStream): Promise<string> {
  if (given === undefined && input.isTTY) return ""
  if (given === undefined || given === "-") return (await readAll(input)).trim()
  const prompt = given.trim()
  if (prompt === "" || input.isTTY) return prompt
  const piped = await readPiped(input)
  return piped.trim() === "" ? prompt : `${prompt}\n\nStandard input:\n${toFenced(piped)}`
}

async function readPiped(input: ReadStream): Promise<string> {
  let text = ""
  using _ = setTimeout(() => {
    if (text !== "") return
    process.stderr.write("Nothing came from standard input, so it is not waited for. To be faster: < /dev/null\n")
    input.destroy()
  }, PATIENCE_MS)
  try {
    for await (const chunk of input.setEncoding("utf8")) {
      text += String(chunk)
      if (text.length > MOST_CHARACTERS)
        return `${text.slice(0, MOST_CHARACTERS)}\n(cut here, after ${MOST_CHARACTERS} characters)`
    }
  } catch (error) {
    if (!input.destroyed) throw error
  }
  return text
}

/** Puts a text into a fence that is longer than any inside, so that nothing in the text ends the fence. */
function toFenced(text: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length))
  const fence = "`".repeat(longest + 1)
  return `${fence}\n${text.replace(/\n+$/, "")}\n${fence}`
}
