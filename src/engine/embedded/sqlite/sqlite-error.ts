import { MeanwhileError, type ErrorCode, toErrorMessage } from "../../../base/error.ts"

/** Primary result codes of SQLite that mean something to us. */
const SQLITE = {
  busy: 5,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  constraint: 19,
  notADatabase: 26,
}

interface Refusal {
  readonly code: ErrorCode
  readonly text: string
}

const REFUSALS: ReadonlyMap<number, Refusal> = new Map([
  [SQLITE.busy, { code: "store_unavailable", text: "is locked by another process. Try again." }],
  [
    SQLITE.readOnly,
    { code: "store_read_only", text: "cannot be written. Give this user write access to it and its folder." },
  ],
  [SQLITE.ioError, { code: "store_unavailable", text: "could not be read or written. Check the disk it is on." }],
  [
    SQLITE.corrupt,
    { code: "store_damaged", text: "is damaged. It was left as it is; restore a copy or use another data folder." },
  ],
  [
    SQLITE.full,
    { code: "disk_full", text: "cannot grow: the disk is full. Free some space; nothing of this was stored." },
  ],
  [
    SQLITE.cannotOpen,
    { code: "store_unavailable", text: "cannot be opened. Check that its folder exists and is writable." },
  ],
  [SQLITE.constraint, { code: "invalid_input", text: "has such a record already." }],
  [
    SQLITE.notADatabase,
    { code: "store_damaged", text: "is not a database. It was left as it is; use another data folder." },
  ],
])

/** True if SQLite itself failed, as opposed to a refusal of ours or a bug in the program. */
export function isSqliteError(error: unknown): boolean {
  return primaryCode(error) !== undefined
}

export function isBusy(error: unknown): boolean {
  return primaryCode(error) === SQLITE.busy
}

export function isDiskFull(error: unknown): boolean {
  return primaryCode(error) === SQLITE.full
}

/** Every error of SQLite as a refusal; a refusal of ours, and a mistake of ours, stay what they are. */
export function toStoreError(error: unknown, path: string): unknown {
  const code = primaryCode(error)
  if (code === undefined) return error
  const refusal = REFUSALS.get(code) ?? { code: "store_unavailable", text: "refused the request." }
  const message = `The store ${path} ${refusal.text} (${toErrorMessage(error)})`
  return new MeanwhileError(refusal.code, message, { path }, { cause: error })
}

/** SQLite packs the detail into the higher bits. */
function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return undefined
  return error.errcode & 0xff
}
