import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  statSync,
} from "node:fs"
import { dirname } from "node:path"
import { MeanwhileError, toErrorMessage } from "../../base/error.ts"
import { systemCodeOf } from "../../base/system-error.ts"
import { assertOurs } from "./schema/migrations.ts"

const HEADER_BYTES = 100
const MAGIC = "SQLite format 3\0"
const FRACTIONS = Buffer.from([64, 32, 32])
/** Offsets of the fields in the header of a SQLite file that are read here. */
const OFFSET = {
  pageSize: 16,
  changeCounter: 24,
  pageCount: 28,
  schemaCookie: 40,
  userVersion: 60,
  applicationId: 68,
  validFor: 92,
}

/** Creates the file and its folder for their owner alone, when missing. */
export function createStoreFile(path: string): void {
  try {
    makeFolder(dirname(path))
    closeSync(openSync(path, constants.O_CREAT | constants.O_RDWR, 0o600))
    accessSync(dirname(path), constants.W_OK)
  } catch (error) {
    throw toFileError(error, path)
  }
}

/** One at a time: where none can be made, as below `/proc`, Node's recursive option tries without end. */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  const above = dirname(path)
  if (above !== path) makeFolder(above)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Somebody else may have made it just now.
    if (!existsSync(path)) throw error
  }
}

/**
 * Looks at an existing file without SQLite, which would write beside it or into it. Answers whether a write-ahead log
 * lies beside it: then the newest header is in that log, and only SQLite can read it.
 */
export function inspectStoreFile(path: string): { readonly hasLog: boolean } {
  // The log first: another process that is just creating the store writes the file before its log.
  const hasLog = sizeOf(`${path}-wal`) > 0
  const header = Buffer.alloc(HEADER_BYTES)
  const fileBytes = readHeader(path, header)
  if (fileBytes === 0) {
    if (hasLog) throw damaged(path, "it is empty although a log of its changes exists")
    return { hasLog: false }
  }
  if (fileBytes < HEADER_BYTES || !isDatabaseHeader(header)) throw damaged(path, "it does not begin as a database does")
  if (hasLog) return { hasLog }
  // A process that is creating the store, or died while it did, has made a database without a table.
  const isEmpty = header.readUInt32BE(OFFSET.schemaCookie) === 0
  assertOurs(path, header.readUInt32BE(OFFSET.applicationId), header.readUInt32BE(OFFSET.userVersion), isEmpty)
  if (fileBytes < declaredBytes(header)) throw damaged(path, "its end is missing")
  return { hasLog }
}

/** The magic text, a page size that is a power of two, and the three fixed fractions. */
function isDatabaseHeader(header: Buffer): boolean {
  const pageSize = header.readUInt16BE(OFFSET.pageSize)
  const isPowerOfTwo = (pageSize & (pageSize - 1)) === 0 && (pageSize === 1 || pageSize >= 512)
  return (
    header.toString("latin1", 0, MAGIC.length) === MAGIC && isPowerOfTwo && FRACTIONS.equals(header.subarray(21, 24))
  )
}

/** The file size that the header states; 0 if an older writer did not keep that field up to date. */
function declaredBytes(header: Buffer): number {
  if (header.readUInt32BE(OFFSET.changeCounter) !== header.readUInt32BE(OFFSET.validFor)) return 0
  const pageSize = header.readUInt16BE(OFFSET.pageSize)
  return header.readUInt32BE(OFFSET.pageCount) * (pageSize === 1 ? 65_536 : pageSize)
}

function readHeader(path: string, header: Buffer): number {
  try {
    const descriptor = openSync(path, "r")
    try {
      // In this order: a file that another process is just creating counts as empty, whatever it holds a moment later.
      const { size } = fstatSync(descriptor)
      readSync(descriptor, header, 0, HEADER_BYTES, 0)
      return size
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    throw toFileError(error, path)
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

function damaged(path: string, why: string): MeanwhileError {
  const text = `The store ${path} is damaged: ${why}. It was left as it is; restore a copy or use another data folder.`
  return new MeanwhileError("store_damaged", text, { path })
}

const READ_ONLY = ["EACCES", "EPERM", "EROFS"]

function toFileError(error: unknown, path: string): MeanwhileError {
  const code = systemCodeOf(error) ?? ""
  const options = { cause: error }
  if (READ_ONLY.includes(code)) {
    const text = `The store ${path} cannot be written. Give this user write access to it and its folder. (${toErrorMessage(error)})`
    return new MeanwhileError("store_read_only", text, { path }, options)
  }
  if (code === "ENOSPC")
    return new MeanwhileError("disk_full", `The store ${path} cannot be created: the disk is full.`, { path }, options)
  const text = `The store ${path} cannot be opened. Check that its folder exists and is a folder. (${toErrorMessage(error)})`
  return new MeanwhileError("store_unavailable", text, { path }, options)
}
