import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { FILE_MODE } from "./run-paths.ts"

/**
 * Where the bytes of a capped output are. The output file begins at absolute offset `base`; directly before it lies the
 * segment, a file with the newest of what was cut away; what came before that is dropped.
 *
 * `cut` is what the book will say once the output file has been emptied. While it is set the file is either still as
 * long as `cut.sizeBytes` (or longer), and the book holds as it stands, or shorter, and the cut has happened. So a crash
 * at any moment leaves one true reading.
 */
export interface OutputBook {
  readonly base: number
  readonly segment: Segment | null
  readonly cut: { readonly sizeBytes: number; readonly base: number; readonly segment: Segment | null } | null
}

interface Segment {
  readonly name: string
  /** Absolute offset of its first byte. Its last is the one before `base`. */
  readonly start: number
}

export const EMPTY_BOOK: OutputBook = { base: 0, segment: null, cut: null }

export function readBook(path: string): OutputBook {
  const text = readBookText(path)
  return text === "" ? EMPTY_BOOK : (JSON.parse(text) as OutputBook)
}

export function readBookText(path: string): string {
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
  return { base, segment, cut: null }
}

export function firstOffsetOf(book: OutputBook): number {
  return book.segment?.start ?? book.base
}
