import {
  closeSync,
  fstatSync,
  openSync,
  read,
  readSync,
  existsSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { systemCodeOf } from "../../base/system-error.ts"
import { FILE_MODE, findNewestStream, type RunPaths } from "./run-paths.ts"

/**
 * Where the bytes of a capped output are. The output file begins at absolute offset `base`. Directly before it lies the
 * segment, a file with the newest bytes that were cut away. Bytes before the segment are dropped.
 *
 * `cut` is what the book will say once the output file has been emptied. While `cut` is set, a file of at least
 * `cut.sizeBytes` means that the cut has not happened and the book holds as it stands; a shorter file means that the cut
 * has happened. So a crash at any moment leaves one true reading.
 */
export interface OutputBook {
  /** Absolute offsets at which the run was begun anew. The last one is where the newest execution's output begins. */
  readonly restarts: readonly number[]
  readonly base: number
  readonly segment: Segment | null
  readonly cut: { readonly sizeBytes: number; readonly base: number; readonly segment: Segment | null } | null
}

interface Segment {
  readonly name: string
  /** Absolute offset of its first byte. Its last is the one before `base`. */
  readonly start: number
}

export const EMPTY_BOOK: OutputBook = { restarts: [], base: 0, segment: null, cut: null }

export function readBook(path: string): OutputBook {
  return parseBook(readBookText(path))
}

function parseBook(text: string): OutputBook {
  return text === "" ? EMPTY_BOOK : { ...EMPTY_BOOK, ...(JSON.parse(text) as Partial<OutputBook>) }
}

function readBookText(path: string): string {
  if (!existsSync(path)) return ""
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

/** All or nothing: a reader sees the old book or the new one. */
export function writeBook(path: string, book: OutputBook): void {
  const next = `${path}.next`
  writeFileSync(next, JSON.stringify(book), { mode: FILE_MODE })
  renameSync(next, path)
}

export function settleBook(book: OutputBook, outputSizeBytes: number): OutputBook {
  if (!book.cut) return book
  const { base, segment } = outputSizeBytes < book.cut.sizeBytes ? book.cut : book
  return { ...book, base, segment, cut: null }
}

export function firstOffsetOf(book: OutputBook): number {
  return book.segment?.start ?? book.base
}

/** A run's output as it stands at one moment, wherever its bytes are. */
export interface OutputSource {
  /** Where the run was begun anew, in ascending order. */
  readonly restarts: readonly number[]
  /** The cap dropped the bytes before this offset. */
  readonly firstOffset: number
  readonly totalBytes: number
  /** Absolute offsets, within the two above. Returns fewer bytes when the file was cut meanwhile. */
  read(start: number, end: number): Promise<Buffer>
}

const NO_OUTPUT: OutputSource = {
  restarts: [],
  firstOffset: 0,
  totalBytes: 0,
  read: async () => Buffer.alloc(0),
}

const MOST_READINGS = 100

/** Up to this size a read from the system's cache is faster than one in another thread. */
const READ_AT_ONCE_BYTES = 128 * 1_024

/** Reads the newest stream of a run, whichever process has begun it. */
export async function withNewestSource<Result>(
  paths: RunPaths,
  use: (source: OutputSource) => Promise<Result>,
): Promise<Result> {
  // Most runs print nothing. Listing a folder that is not there would double the time of a task's view.
  if (!existsSync(paths.directory)) return use(NO_OUTPUT)
  for (let reading = 1; ; reading++) {
    const newest = findNewestStream(paths)
    const result = await withFileSource(newest, use)
    // The files of a stream go once the next one is there.
    if (findNewestStream(paths).stream === newest.stream || reading === MOST_READINGS) return result
  }
}

/**
 * Reads the files of a stream, if it has any. Another process may write and cut them at the same time: a reading counts
 * only if the book is the same afterwards, and is repeated otherwise.
 */
export async function withFileSource<Result>(
  paths: RunPaths,
  use: (source: OutputSource) => Promise<Result>,
): Promise<Result> {
  for (let reading = 1; ; reading++) {
    const text = readBookText(paths.book)
    const book = parseBook(text)
    const output = openIfThere(paths.output)
    let segment: number | undefined
    try {
      const sizeBytes = sizeOf(output)
      const settled = settleBook(book, sizeBytes)
      segment = settled.segment ? openIfThere(join(paths.directory, settled.segment.name)) : undefined
      const result = await use(toSource(settled, output, sizeBytes, segment))
      const isCutSince = book.cut !== null && settleBook(book, sizeOf(output)).base !== settled.base
      if ((readBookText(paths.book) === text && !isCutSince) || reading === MOST_READINGS) return result
    } finally {
      if (output !== undefined) closeSync(output)
      if (segment !== undefined) closeSync(segment)
    }
  }
}

function toSource(
  book: OutputBook,
  output: number | undefined,
  sizeBytes: number,
  segment: number | undefined,
): OutputSource {
  return {
    restarts: book.restarts,
    firstOffset: firstOffsetOf(book),
    totalBytes: book.base + sizeBytes,
    async read(start, end) {
      const pieces: Buffer[] = []
      if (segment !== undefined && book.segment && start < book.base) {
        const { start: first } = book.segment
        pieces.push(await readWhole(segment, start - first, Math.min(end, book.base) - first))
      }
      if (output !== undefined && end > book.base) {
        pieces.push(await readWhole(output, Math.max(start - book.base, 0), end - book.base))
      }
      return pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces)
    },
  }
}

const readLater = promisify(read)

async function readWhole(descriptor: number, start: number, end: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.max(end - start, 0))
  for (let filled = 0; filled < buffer.byteLength; ) {
    const length = buffer.byteLength - filled
    const bytesRead =
      length <= READ_AT_ONCE_BYTES
        ? readSync(descriptor, buffer, filled, length, start + filled)
        : (await readLater(descriptor, buffer, filled, length, start + filled)).bytesRead
    if (bytesRead === 0) return buffer.subarray(0, filled)
    filled += bytesRead
  }
  return buffer
}

function sizeOf(descriptor: number | undefined): number {
  return descriptor === undefined ? 0 : fstatSync(descriptor).size
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, "r")
  } catch (error) {
    const code = systemCodeOf(error)
    if (code === "ENOENT" || code === "ENOTDIR") return undefined
    throw error
  }
}
