import { type FileHandle, open } from "node:fs/promises"
import { join } from "node:path"
import { firstOffsetOf, type OutputBook, readBookText, EMPTY_BOOK, settleBook } from "./output-book.ts"
import type { RunPaths } from "./run-paths.ts"

/** A run's output as it stands at one moment, wherever its bytes are. */
export interface OutputSource {
  /** Bytes below were dropped by the cap. */
  readonly firstOffset: number
  readonly totalBytes: number
  /** Absolute offsets, within the two above. */
  read(start: number, end: number): Promise<Buffer>
}

export const EMPTY_SOURCE: OutputSource = {
  firstOffset: 0,
  totalBytes: 0,
  read: () => Promise.resolve(Buffer.alloc(0)),
}

const ATTEMPTS = 100

/**
 * Reads the files of a run, also one that another process writes and cuts at the same time: what was read counts only
 * if the book is the same afterwards.
 */
export async function withFileSource<Result>(
  paths: RunPaths,
  use: (source: OutputSource) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    const text = readBookText(paths.book)
    const output = await openIfThere(paths.output)
    const book: OutputBook = text === "" ? EMPTY_BOOK : (JSON.parse(text) as OutputBook)
    const sizeBytes = output ? (await output.stat()).size : 0
    const settled = settleBook(book, sizeBytes)
    const segment = settled.segment && (await openIfThere(join(paths.directory, settled.segment.name)))
    try {
      const result = await use(toSource(settled, output, sizeBytes, segment))
      const isCutSince = book.cut !== null && settleBook(book, (await output?.stat())?.size ?? 0).base !== settled.base
      if ((readBookText(paths.book) === text && !isCutSince) || attempt === ATTEMPTS) return result
    } finally {
      await output?.close()
      await segment?.close()
    }
  }
}

function toSource(
  book: OutputBook,
  output: FileHandle | null,
  sizeBytes: number,
  segment: FileHandle | null,
): OutputSource {
  return {
    firstOffset: firstOffsetOf(book),
    totalBytes: book.base + sizeBytes,
    async read(start, end) {
      const pieces: Buffer[] = []
      if (segment && book.segment && start < book.base) {
        pieces.push(await readWhole(segment, start - book.segment.start, Math.min(end, book.base) - book.segment.start))
      }
      if (output && end > book.base) {
        pieces.push(await readWhole(output, Math.max(start - book.base, 0), end - book.base))
      }
      return pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces)
    },
  }
}

async function readWhole(file: FileHandle, start: number, end: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.max(end - start, 0))
  let filled = 0
  while (filled < buffer.byteLength) {
    const { bytesRead } = await file.read(buffer, filled, buffer.byteLength - filled, start + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return buffer.subarray(0, filled)
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, "r")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null
    throw error
  }
}
