import { existsSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync } from "node:fs"
import { open } from "node:fs/promises"
import { join } from "node:path"
import { EMPTY_BOOK, firstOffsetOf, type OutputBook, readBook, settleBook, writeBook } from "./output-book.ts"
import { withFileSource } from "./output-source.ts"
import { DIRECTORY_MODE, FILE_MODE, type RunPaths } from "./run-paths.ts"

const COPY_BYTES = 1_024 * 1_024
const SEGMENT_PREFIX = "segment-"

/** How large the files of a run's output are, dropped bytes not counted. */
export function keptBytes(paths: RunPaths): number {
  const sizeBytes = sizeOf(paths)
  const { base, segment } = settleBook(readBook(paths.book), sizeBytes)
  return sizeBytes + (segment ? base - segment.start : 0)
}

/**
 * Drops all but the newest `keepBytes` of the output, in steps between which a crash loses nothing that is kept and
 * repeats nothing: `recoverOutput` finishes or undoes what it finds. Nobody may write while the steps run.
 *
 * 1. Copy what is kept to a new segment. 2. Write in the book what will hold once the output file is empty. 3. Empty it.
 * 4. Write in the book that it holds. 5. Remove segments that the book no longer names.
 */
export function toCompactionSteps(paths: RunPaths, keepBytes: number): readonly (() => Promise<void>)[] {
  const sizeBytes = sizeOf(paths)
  const before = settleBook(readBook(paths.book), sizeBytes)
  const base = before.base + sizeBytes
  const start = Math.max(base - keepBytes, firstOffsetOf(before))
  const after = { base, segment: { name: `${SEGMENT_PREFIX}${base}`, start } }
  return [
    () => copyRange(paths, start, base, after.segment.name),
    async () => writeBook(paths.book, { ...before, cut: { sizeBytes, ...after } }),
    async () => truncateSync(paths.output, 0),
    async () => writeBook(paths.book, { ...after, cut: null }),
    async () => removeUnnamedSegments(paths, { ...after, cut: null }),
  ]
}

/** Undefined when it was not to go on before the last step. What is kept can be read all the same. */
export async function compactOutput(
  paths: RunPaths,
  keepBytes: number,
  isToGoOn: () => boolean = () => true,
): Promise<{ readonly droppedBefore: number } | undefined> {
  for (const step of toCompactionSteps(paths, keepBytes)) {
    if (!isToGoOn()) return undefined
    await step()
  }
  return { droppedBefore: firstOffsetOf(readBook(paths.book)) }
}

/** Brings the book and the files of a run together again after a crash. Nobody may write meanwhile. */
export function recoverOutput(paths: RunPaths): void {
  if (!existsSync(paths.directory)) return
  const book = readBook(paths.book)
  const settled = settleBook(book, sizeOf(paths))
  if (book.cut) writeBook(paths.book, settled)
  removeUnnamedSegments(paths, settled)
}

/**
 * Another worker, with a spool of its own, has printed more for this run than is here: that is given up here, and what
 * follows comes behind it. Dying in between leaves nothing, and then the same is done again. Nobody may write meanwhile.
 */
export function continueOutput(paths: RunPaths, totalBytes: number): void {
  const sizeBytes = sizeOf(paths)
  if (settleBook(readBook(paths.book), sizeBytes).base + sizeBytes >= totalBytes) return
  mkdirSync(paths.directory, { recursive: true, mode: DIRECTORY_MODE })
  const book = { ...EMPTY_BOOK, base: totalBytes }
  rmSync(paths.output, { force: true })
  writeBook(paths.book, book)
  removeUnnamedSegments(paths, book)
}

async function copyRange(paths: RunPaths, start: number, end: number, name: string): Promise<void> {
  const path = join(paths.directory, name)
  const target = await open(path, "w", FILE_MODE)
  try {
    await withFileSource(paths, async (source) => {
      for (let from = start; from < end; from += COPY_BYTES) {
        const bytes = await source.read(from, Math.min(from + COPY_BYTES, end))
        await target.writeFile(bytes)
      }
    })
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  } finally {
    await target.close()
  }
}

function removeUnnamedSegments(paths: RunPaths, book: OutputBook): void {
  for (const name of readdirSync(paths.directory)) {
    if (name.startsWith(SEGMENT_PREFIX) && name !== book.segment?.name) rmSync(join(paths.directory, name))
  }
}

export function sizeOf(paths: RunPaths): number {
  return statSync(paths.output, { throwIfNoEntry: false })?.size ?? 0
}
