import { mkdirSync, rmSync } from "node:fs"
import { MeanwhileError } from "../../base/error.ts"
import { copyRange } from "./output-cap.ts"
import { EMPTY_BOOK, type OutputBook, type OutputSource, withFileSource, writeBook } from "./output-files.ts"
import { DIRECTORY_MODE, findNewestStream, listEarlierStreams, type RunPaths } from "./run-paths.ts"

export interface StreamStart {
  /**
   * Where the store's output of the run ends: the new stream begins there, and earlier files go. Undefined if the files
   * are the only output: then all they have is kept before the new stream.
   */
  readonly storedBytes: number | undefined
  /** True if the run is done again from its beginning, false if it goes on where it was. */
  readonly isRestart: boolean
}

/**
 * Begins a stream for a claim. Whatever an earlier holder of the run prints from now on goes to files that nobody reads.
 * The book is the moment from which the stream counts: a crash before it leaves the earlier stream, and the next claim
 * begins again. A crash after it leaves files of the earlier stream, which go with the next one or with the run.
 */
export async function beginStream(paths: RunPaths, start: StreamStart): Promise<void> {
  const earlier = findNewestStream(paths)
  if (earlier.stream === paths.stream) return
  if (earlier.stream > paths.stream) {
    throw new MeanwhileError("stale_claim", "Another Meanwhile process has taken this run over, and prints here now.")
  }
  mkdirSync(paths.directory, { recursive: true, mode: DIRECTORY_MODE })
  const { storedBytes, isRestart } = start
  const book =
    storedBytes === undefined
      ? await withFileSource(earlier, (source) => keepEarlier(paths, source, isRestart))
      : { ...EMPTY_BOOK, base: storedBytes, restarts: isRestart && storedBytes > 0 ? [storedBytes] : [] }
  writeBook(paths.book, book)
  for (const path of listEarlierStreams(paths)) rmSync(path, { force: true })
}

async function keepEarlier(paths: RunPaths, source: OutputSource, isRestart: boolean): Promise<OutputBook> {
  const { firstOffset, totalBytes, restarts } = source
  const isNew = isRestart && totalBytes > 0 && restarts.at(-1) !== totalBytes
  const book = { ...EMPTY_BOOK, base: totalBytes, restarts: isNew ? [...restarts, totalBytes] : restarts }
  if (totalBytes === firstOffset) return book
  const name = `${paths.segmentPrefix}${totalBytes}`
  await copyRange(source, firstOffset, totalBytes, paths, name)
  return { ...book, segment: { name, start: firstOffset } }
}
