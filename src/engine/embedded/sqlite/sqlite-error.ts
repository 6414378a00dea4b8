import { describeLockHolders } from "./lock-holders.ts"
import { MeanwhileError, type ErrorCode, toErrorMessage } from "../../../base/error.ts"

/** The primary result codes of SQLite that are told apart here. */
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

const REFUSALS: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  [SQLITE.busy]: ["store_unavailable", "is locked"],
  [SQLITE.readOnly]: ["store_read_only", "cannot be written. Give this user write access to it and its folder."],
  [SQLITE.ioError]: ["store_unavailable", "could not be read or written. Check the disk it is on."],
  [SQLITE.corrupt]: ["store_damaged", "is damaged. It was left as it is; restore a copy or use another data folder."],
  [SQLITE.full]: ["disk_full", "cannot grow: the disk is full. Free some space; nothing of this was stored."],
  [SQLITE.cannotOpen]: ["store_unavailable", "cannot be opened. Check that its folder exists and is writable."],
  [SQLITE.constraint]: ["invalid_input", "has such a record already."],
  [SQLITE.notADatabase]: ["store_damaged", "is not a database. It was left as it is; use another data folder."],
}

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

/** True if the store takes no writes for now: nothing of the transaction was stored, and it can be tried again. */
export function isWriteRefused(error: unknown): boolean {
  return [SQLITE.full, SQLITE.readOnly, SQLITE.ioError].some((code) => code === primaryCode(error))
}

/** Turns every error of SQLite into a refusal. Any other error stays what it is. */
export function toStoreError(error: unknown, path: string): unknown {
  const code = primaryCode(error)
  if (code === undefined) return error
  const [refusal, words] = REFUSALS[code] ?? ["store_unavailable", "refused the request."]
  const text = code === SQLITE.busy ? `${words}${describeLockHolders(path)}` : words
  const message = `The store ${path} ${text} (${toErrorMessage(error)})`
  return new MeanwhileError(refusal, message, { path }, { cause: error })
}

/** SQLite packs the detail into the higher bits. */
function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return undefined
  return error.errcode & 0xff
}
