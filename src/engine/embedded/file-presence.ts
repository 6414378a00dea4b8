import { type Stats, statSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { pathToFileURL } from "node:url"
import { MeanwhileError } from "../../base/error.ts"
import type { Attachments } from "./attachments.ts"
import { isSqliteError } from "./sqlite/sqlite-error.ts"

/**
 * Notices that the store was deleted, replaced or overwritten while it is open. SQLite does not: it goes on writing to
 * the deleted file.
 */
export interface FilePresence {
  /** Throws `store_gone` if the path no longer leads to the open file. Called after each commit that waits for the disk, before its answer. */
  require(): void
  /** Throws the same once it is known: the open file may hold commits that were refused, and must not be read. */
  requireKnown(): void
  close(): void
}

/** For a store in memory. */
export const NO_FILE: FilePresence = { require() {}, requireKnown() {}, close() {} }

interface FilePresenceParts {
  readonly database: DatabaseSync
  readonly path: string
  readonly attachments: Pick<Attachments, "id" | "isListed">
  /** Called once. */
  readonly onGone: (error: MeanwhileError) => void
}

const LOOK_EVERY_MS = 1_000
/** A look may fall into somebody's checkpoint, which changes the file page by page. */
const LOOKS_WITHOUT_ENTRY = 2

/**
 * A file that was overwritten in place is the same file to the system. It is known by the attachment of this process,
 * which no other store has, and no earlier copy of this one.
 */
export function createFilePresence(parts: FilePresenceParts): FilePresence {
  const { database, path, attachments, onGone } = parts
  const store = { file: path, opened: identify(path) }
  const files = [store, { file: `${path}-wal`, opened: identify(`${path}-wal`) }]
  const entry = createEntryLook(database, path, attachments)
  let gone: MeanwhileError | undefined
  let missed = 0

  function declare(how: string): MeanwhileError {
    gone = toGone(path, how)
    clearInterval(timer)
    onGone(gone)
    return gone
  }

  function requireKnown(): void {
    if (gone) throw gone
  }

  function look(): void {
    const moved = files.map(findMove).find((how) => how !== undefined)
    if (moved !== undefined) return void declare(moved)
    missed = entry.isMissing() ? missed + 1 : 0
    if (missed >= LOOKS_WITHOUT_ENTRY) declare(OVERWRITTEN)
  }

  // Also notices it while nothing is written.
  const timer = setInterval(look, LOOK_EVERY_MS).unref()
  return {
    requireKnown,
    require() {
      requireKnown()
      const moved = findMove(store)
      if (moved !== undefined) throw declare(moved)
    },
    close: () => clearInterval(timer),
  }
}

/**
 * Looks for this process's attachment in the file itself, past the log. The first look puts it there, so that the file
 * has it from then on.
 */
function createEntryLook(database: DatabaseSync, path: string, { id, isListed }: Pick<Attachments, "id" | "isListed">) {
  const url = pathToFileURL(path)
  url.searchParams.set("immutable", "1")
  let isThere = false
  let lookedAt: number | undefined

  function isInFile(): boolean {
    const file = new DatabaseSync(url, { readOnly: true })
    try {
      return file.prepare("SELECT 1 FROM attachments WHERE id = ?").get(id) !== undefined
    } finally {
      file.close()
    }
  }

  /** Undefined: the file cannot be read now. */
  function tryToRead<Result>(read: () => Result): Result | undefined {
    try {
      return read()
    } catch (error) {
      if (!isSqliteError(error)) throw error
      return undefined
    }
  }

  return {
    isMissing(): boolean {
      if (!isThere) {
        tryToRead(() => database.exec("PRAGMA wal_checkpoint(PASSIVE)"))
        isThere = tryToRead(isInFile) ?? false
        return false
      }
      const found = tryStat(path)
      if (!found || found.mtimeMs === lookedAt) return false
      if (tryToRead(isInFile)) {
        lookedAt = found.mtimeMs
        return false
      }
      // Another process takes the attachment of one that it believes dead out of the store.
      return tryToRead(isListed) ?? false
    },
  }
}

interface OpenedFile {
  readonly file: string
  readonly opened: string | undefined
}

/** The fate of the file, in words; undefined if the path leads to it, or cannot be followed now. */
function findMove({ file, opened }: OpenedFile): string | undefined {
  const found = identify(file)
  if (found === opened || found === undefined) return undefined
  return found === NO_SUCH_FILE ? DELETED : REPLACED
}

const NO_SUCH_FILE = "none"

/** Device and inode; undefined if they cannot be told. */
function identify(path: string): string | undefined {
  const found = tryStat(path)
  return found ? `${found.dev}:${found.ino}` : found === null ? NO_SUCH_FILE : undefined
}

/** Null if there is no such file; undefined if the path cannot be followed now. */
function tryStat(path: string): Stats | null | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null
  } catch {
    return undefined
  }
}

const DELETED = "was deleted"
const REPLACED = "was replaced by another file"
const OVERWRITTEN = "was overwritten with other content"

function toGone(path: string, how: string): MeanwhileError {
  const text = `The store ${path} ${how} while this program had it open. Nothing more is stored, so nothing more is done: end this program, put the right file in place, and start again.`
  return new MeanwhileError("store_gone", text, { path })
}
