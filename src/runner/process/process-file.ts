import { closeSync, constants, openSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs"
import type { CancelTimer, Clock } from "../../base/clock.ts"
import { decodeIdentity, type ProcessIdentity } from "./identity.ts"

/**
 * What the process file says about one command, a line for each fact: which wrapper claimed the right to run it, when
 * that wrapper started, and how the command ended. A line counts once its newline is written. The process that creates
 * the file holds the claim.
 */
export interface ProcessFacts {
  readonly claim: Claim | "forbidden" | "unfinished"
  /** When the wrapper started. Undefined until `noteStart` has written it. */
  readonly startedAt: string | undefined
  /** Undefined while the command runs, and for ever when its wrapper was killed. */
  readonly ending: Ending | undefined
  /** When the file was last written: for a command that has ended, and that nobody has adopted, when it ended. */
  readonly writtenAtMs: number
  /** True if the guard stopped the command while Meanwhile was down, because it printed too much. */
  readonly wasOverLimit: boolean
  /** True if the guard stopped the command while Meanwhile was down, because its time limit was over. */
  readonly wasLate: boolean
  /** True if the guard keeps a time limit of the command. */
  readonly hasUntil: boolean
}

export interface Claim {
  readonly pid: number
  readonly bootId: string
  /** The Meanwhile process that started the wrapper. */
  readonly owner: ProcessIdentity | undefined
  /** Where the file lay then. Earlier versions have not noted it. */
  readonly place: string | undefined
}

/** Undefined when there is no file: nobody has claimed the right to run the command. */
export function readFacts(path: string): ProcessFacts | undefined {
  try {
    return { ...toFacts(readFileSync(path, "latin1")), writtenAtMs: statSync(path).mtimeMs }
  } catch {
    return undefined
  }
}

function toFacts(text: string): Omit<ProcessFacts, "writtenAtMs"> {
  const lines = text.split("\n").slice(0, -1)
  const find = (word: string): string | undefined =>
    lines.find((line) => line.startsWith(`${word} `))?.slice(word.length + 1)
  const status = find("exit")
  return {
    claim: toClaim(lines[0], find("claim")),
    startedAt: find("start"),
    ending: status === undefined ? undefined : toEnding(Number(status)),
    wasOverLimit: lines.includes("over"),
    wasLate: lines.includes("late"),
    hasUntil: (lines.findLast((line) => line.startsWith("until ")) ?? NO_UNTIL) !== NO_UNTIL,
  }
}

const NO_UNTIL = "until 0"

/**
 * Notes when the guard stops the command if nobody watches it by then; null: the guard keeps no time limit. The last note
 * counts. A note that cannot be written leaves the limit to the next start.
 */
export function noteUntil(path: string, wallMs: number | null): void {
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, constants.O_WRONLY | constants.O_APPEND)
    writeSync(descriptor, wallMs === null ? `${NO_UNTIL}\n` : `until ${Math.ceil(wallMs / 1_000)}\n`)
  } catch {
    // The folder is gone, or the disk is full.
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** Takes the right to run away from a wrapper that has not claimed it. Does nothing when the wrapper was faster. */
export function forbidRun(path: string): void {
  try {
    writeFileSync(path, `${FORBIDDEN}\n`, { flag: "wx", mode: 0o600 })
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (code === "EEXIST") return
    // The file is ours and has no line: it would be taken for the claim of a wrapper that died.
    if (syscall === "write") rmSync(path, { force: true })
    throw error
  }
}

/** The start is noted only for processes that live this long. Until then the marker identifies a process. */
const NOTE_START_AFTER_MS = 20
/** The delay between attempts doubles up to here: on a machine under load a wrapper takes long to claim the file. */
const LAST_NOTE_AFTER_MS = 10_000

/**
 * Notes when the wrapper with this pid started, once it has claimed the file. The returned function cancels the note.
 */
export function noteStart(path: string, pid: number, startedAt: string | undefined, clock: Clock): () => void {
  if (startedAt === undefined) return () => undefined
  let cancel: CancelTimer = () => undefined
  const noteAfter = (delayMs: number): void => {
    const note = (): void => {
      if (!appendStart(path, pid, startedAt) && delayMs < LAST_NOTE_AFTER_MS) noteAfter(delayMs * 2)
    }
    cancel = clock.schedule(delayMs, note, { isBackground: true })
  }
  noteAfter(NOTE_START_AFTER_MS)
  return () => cancel()
}

/** False while this wrapper has not claimed the file, when another wrapper has, and once the folder is gone. */
function appendStart(path: string, pid: number, startedAt: string): boolean {
  let descriptor: number | undefined
  try {
    // Never creates the file: that would take the claim away from the wrapper.
    descriptor = openSync(path, constants.O_RDWR | constants.O_APPEND)
    const { claim } = toFacts(readFileSync(descriptor, "latin1"))
    if (typeof claim !== "object" || claim.pid !== pid) return false
    writeSync(descriptor, `start ${startedAt}\n`)
    return true
  } catch {
    return false
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

const FORBIDDEN = "forbidden"

function toClaim(firstLine: string | undefined, claim: string | undefined): ProcessFacts["claim"] {
  if (firstLine === FORBIDDEN) return "forbidden"
  if (claim === undefined) return "unfinished"
  const [pid, , bootId = "", ...owner] = claim.split(" ")
  const [, , , place] = owner.join(" ").split(" | ")
  return { pid: Number(pid), bootId, owner: decodeIdentity(owner.join(" ")), place }
}

/** How the command itself ended, as far as anyone knows. */
export interface Ending {
  readonly exitCode: number | null
  readonly signal: number | null
}

export const UNKNOWN_ENDING: Ending = { exitCode: null, signal: null }

const LAST_SIGNAL = 31

/**
 * A shell says 128 + n for a child that signal n ended, and so do most programs that report on others. An exit code of
 * that shape is therefore read as the signal: the two cannot be told apart.
 */
export function toEnding(status: number): Ending {
  const signal = status - 128
  return signal >= 1 && signal <= LAST_SIGNAL ? { exitCode: null, signal } : { exitCode: status, signal: null }
}
