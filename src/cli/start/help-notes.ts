import type { Command } from "commander"
import { wrapWords } from "../screen/wrap-words.ts"

/** The width of help where nobody knows that of a terminal; commander takes the same. */
const USUAL_COLUMNS = 80

/** Puts paragraphs below the options in the help of a command, each given as one line and broken to the terminal's width. */
export function addHelpNotes(command: Command, notes: string): Command {
  return command.addHelpText("after", ({ error }) => {
    const { columns } = error ? process.stderr : process.stdout
    return wrapWords(notes, columns || USUAL_COLUMNS)
  })
}
