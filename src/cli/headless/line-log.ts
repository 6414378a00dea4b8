import type { ProgramOptions } from "../../program/open-program.ts"
import { plain, shortId } from "../format/format.ts"
import type { Screen } from "../screen/screen.ts"

type Log = NonNullable<ProgramOptions["log"]>
type Fields = Parameters<Log["info"]>[1]

export interface LineLogOptions {
  readonly screen: Screen
  /** Takes warnings and errors. */
  readonly notes: Screen
  /** If false, only warnings and errors are written. */
  readonly isVerbose: boolean
  /** True once the program has left a store that is away: later errors have that cause, which is told once at the end. */
  readonly isLeft: () => boolean
}

/** Writes one line for each entry: the message, then `name=value` for each field. */
export function createLineLog({ screen, notes, isVerbose, isLeft }: LineLogOptions): Log {
  const tell = (message: string, fields?: Fields): void => {
    const isKnown = isLeft() && fields?.["error"] !== undefined
    if (!isKnown) notes.print(toLogLine(message, fields))
  }
  return {
    debug() {},
    info(message, fields) {
      if (isVerbose) screen.print(toLogLine(message, fields))
    },
    warn: tell,
    error: tell,
  }
}

const WHOLE_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function toLogLine(message: string, fields: Fields = {}): string {
  const pairs = Object.entries(fields).map(([name, given]) => {
    const value = typeof given === "string" && WHOLE_ID.test(given) ? shortId(given) : given
    const isWord = typeof value === "string" && /^[\w./-]+$/.test(value)
    return `${name}=${isWord ? value : JSON.stringify(value)}`
  })
  return plain([message, ...pairs].join(" ")).replaceAll("\n", " ")
}
