import {
  appendFileSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { createRedactor } from "../app.ts"
import type { Variables } from "../base/environment.ts"

/** What a person has typed at the prompt, to be typed again. It survives a restart, but for what holds a secret. */
export interface TypedLines {
  /** What earlier chats have kept, newest first. */
  readonly earlier: readonly string[]
  keep(line: string): void
}

const MOST_LINES = 1_000
const LONGEST_CHARACTERS = 10_000
/** Of a longer file the end is read, and the rest of it goes. */
const MOST_BYTES = 1024 * 1024
const FILE = "typed-lines"
/** The answer to a question is for whoever asked. */
const ANSWER = /^\s*\/answer\b/i

/** A folder that cannot be written keeps nothing, which costs nobody a chat. A line that is cut off is skipped. */
export function openTypedLines(dataDirectory: string, environment: Variables): TypedLines {
  const path = join(dataDirectory, FILE)
  const redactor = createRedactor({ environment })
  return {
    earlier: readEarlier(path),
    keep(line) {
      if (line.length > LONGEST_CHARACTERS || ANSWER.test(line) || redactor.redactText(line) !== line) return
      unlessRefused(() => append(path, toRow(line)))
    },
  }
}

const toRow = (line: string): string => `${JSON.stringify(line)}\n`

function append(path: string, row: string): void {
  const flag = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_NOFOLLOW
  const file = openSync(path, flag | constants.O_NONBLOCK, 0o600)
  try {
    if (!fstatSync(file).isFile()) return
    appendFileSync(file, row)
  } finally {
    closeSync(file)
  }
}

function readEarlier(path: string): readonly string[] {
  const found = unlessRefused(() => readEnd(path))
  if (found === undefined) return []
  const rows = found.text.split("\n").slice(found.isCut ? 1 : 0)
  const kept = rows.flatMap(toLine).slice(-MOST_LINES)
  // A chat that is open beside this one may lose what it keeps in this moment.
  if (found.isCut || rows.length > 2 * MOST_LINES) unlessRefused(() => replace(path, kept.map(toRow).join("")))
  return kept.toReversed()
}

/** The file may have come with somebody else's folder: it is read up to a bound, and neither a link nor a pipe is followed. */
function readEnd(path: string): { readonly text: string; readonly isCut: boolean } | undefined {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(file)
    if (!stats.isFile()) return undefined
    if ((stats.mode & 0o077) !== 0) unlessRefused(() => fchmodSync(file, 0o600))
    const start = Math.max(0, stats.size - MOST_BYTES)
    const bytes = Buffer.alloc(stats.size - start)
    const length = readSync(file, bytes, 0, bytes.length, start)
    return { text: bytes.toString("utf8", 0, length), isCut: start > 0 }
  } finally {
    closeSync(file)
  }
}

function toLine(row: string): readonly string[] {
  try {
    const line: unknown = JSON.parse(row)
    return typeof line === "string" && line.length <= LONGEST_CHARACTERS ? [line] : []
  } catch {
    return []
  }
}

function replace(path: string, text: string): void {
  const draft = `${path}.${process.pid}`
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: "wx" })
    renameSync(draft, path)
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Undefined where the system refuses: nobody depends on these lines. */
function unlessRefused<Result>(act: () => Result): Result | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}
