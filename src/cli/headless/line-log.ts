import type { ProgramOptions } from "../../program.ts"
import { plain } from "../format.ts"
import type { Screen } from "../screen/screen.ts"

type Log = NonNullable<ProgramOptions["log"]>
type Fields = Parameters<Log["info"]>[1]

export interface LineLogOptions {
  readonly screen: Screen
  /** For what is not as it should be. */
  readonly notes: Screen
  /** Default: only what is not as it should be is told. */
  readonly isVerbose: boolean
}

/** One line for each, in the words of the program: message, then `name=value`. */
export function createLineLog({ screen, notes, isVerbose }: LineLogOptions): Log {
  const tell = (message: string, fields?: Fields): void => notes.print(toLogLine(message, fields))
  return {
    debug() {},
    info(message, fields) {
      if (isVerbose) screen.print(toLogLine(message, fields))
    },
    warn: tell,
    error: tell,
  }
}

function toLogLine(message: string, fields: Fields = {}): string {
  const pairs = Object.entries(fields).map(([name, value]) => {
    const isWord = typeof value === "string" && /^[\w./-]+$/.test(value)
    return `${name}=${isWord ? value : JSON.stringify(value)}`
  })
  return plain([message, ...pairs].join(" ")).replaceAll("\n", " ")
}
