import { rmSync, writeFileSync, existsSync, readdirSync, statSync, truncateSync } from "node:fs"
import { open } from "node:fs/promises"
import { join } from "node:path"
import type { CancelTimer, Clock } from "../../base/clock.ts"
import { MeanwhileError } from "../../base/error.ts"
import { continueTree, pauseTree } from "../process/pause-tree.ts"
import type { ProcessTree } from "../process/tree.ts"
import type { OutputAppender } from "./run-output.ts"
import {
  firstOffsetOf,
  type OutputBook,
  type OutputSource,
  readBook,
  settleBook,
  writeBook,
  withFileSource,
} from "./output-files.ts"
import { FILE_MODE, type RunPaths } from "./run-paths.ts"

export interface OutputCapOptions {
  readonly paths: RunPaths
  readonly clock: Clock
  readonly limitBytes: number
  readonly appender: OutputAppender
  /** Asked before a cut: a worker that was suspended may have lost the run without knowing it. */
  readonly isOurs: () => Promise<boolean>
  /** Processes that may write to the file beside the appender. When there are none, the watch ends. */
  readonly trees: () => readonly ProcessTree[]
  readonly onDropped: (before: number) => void
  readonly onFailure: (error: unknown) => void
  /** Called once if the file that processes print to is not at its path any more: what they print from then on is lost. */
  readonly onLost: (error: MeanwhileError) => void
  /** Called when the watch has ended by itself. */
  readonly onIdle: () => void
}

const FIRST_LOOK_MS = 25
const SHORTEST_LOOK_MS = 10
const LONGEST_LOOK_MS = 250
/** A run whose output cannot be cut is stopped past this multiple of its limit. */
const UNCUT_FACTOR = 4

/** Keeps the output of one run below its limit while it is written. */
export function createOutputCap(options: OutputCapOptions) {
  const { paths, clock, limitBytes } = options
  let cancelTimer: CancelTimer | undefined
  let cutting: Promise<void> | undefined
  let isClosed = false
  let isAbandoned = false
  let last = { keptBytes: 0, atMs: clock.monotonic() }
  let watched: number | undefined
  let isLost = false

  function schedule(delayMs: number): void {
    cancelTimer = clock.schedule(delayMs, () => {
      cancelTimer = undefined
      void look()
      check()
      if (isClosed) return
      if (options.trees().length === 0) return options.onIdle()
      const next = (): void => schedule(nextLookMs())
      if (cutting) void cutting.then(() => !isClosed && next())
      else next()
    })
  }

  /** Half the time until the output reaches its limit at its present speed. */
  function nextLookMs(): number {
    const now = { keptBytes: keptBytes(paths), atMs: clock.monotonic() }
    const bytesPerMs = (now.keptBytes - last.keptBytes) / Math.max(now.atMs - last.atMs, 1)
    last = now
    const untilFullMs = bytesPerMs > 0 ? (limitBytes - now.keptBytes) / bytesPerMs : LONGEST_LOOK_MS
    return Math.min(Math.max(untilFullMs / 2, SHORTEST_LOOK_MS), LONGEST_LOOK_MS)
  }

  /** A cut empties the file, and does not replace it. A worker that takes the run over removes it. */
  async function look(): Promise<void> {
    const found = statSync(paths.output, { throwIfNoEntry: false })?.ino
    watched ??= found
    if (isLost || isAbandoned || watched === found) return
    isLost = true
    if (!(await options.isOurs().catch(() => true)) || isAbandoned) return
    options.onLost(toLostError(paths.output, found === undefined ? "deleted" : "replaced"))
  }

  /** Looks now; begins a cut if the output is past its limit. */
  function check(): void {
    if (cutting || isClosed || keptBytes(paths) <= limitBytes) return
    cutting = options.appender
      .exclusively(cut)
      .catch(options.onFailure)
      .finally(() => {
        cutting = undefined
      })
  }

  async function cut(): Promise<void> {
    if (!(await options.isOurs().catch(() => false)) || isAbandoned) return
    const trees = options.trees()
    writeFileSync(paths.paused, "", { mode: FILE_MODE })
    try {
      const paused = await Promise.all(trees.map((tree) => pauseTree(tree, clock)))
      // Cutting while a process writes could lose bytes that are kept. The next look tries again.
      if (paused.includes(false)) return requireBelow(limitBytes * UNCUT_FACTOR)
      for (const step of toCompactionSteps(paths, Math.floor(limitBytes / 2))) {
        if (isAbandoned) return
        await step()
      }
      options.onDropped(firstOffsetOf(readBook(paths.book)))
    } finally {
      for (const tree of trees) continueTree(tree)
      rmSync(paths.paused, { force: true })
    }
  }

  function requireBelow(mostBytes: number): void {
    if (keptBytes(paths) <= mostBytes) return
    const message = `The task printed more than ${mostBytes} bytes, and its processes could not be paused to cut the output. Make it print less.`
    throw new MeanwhileError("limit_exceeded", message, { limitBytes })
  }

  return {
    /** Looks at the size from time to time for as long as there are processes. */
    watch(): void {
      if (cancelTimer || isClosed) return
      watched = undefined
      void look()
      schedule(FIRST_LOOK_MS)
    },
    check,
    /** Looks now whether the file is still there. */
    look,
    /** Looks now; resolves when what is past the limit is cut. */
    async settle(): Promise<void> {
      // A look under way has not seen output printed since it began.
      await cutting
      check()
      await cutting
    },
    /** Stops looking; resolves when a cut that was under way is done. */
    async close(): Promise<void> {
      // Output printed since the last look counts too.
      check()
      isClosed = true
      cancelTimer?.()
      await cutting
    },
    /** Stops looking, and takes no further step of a cut that is under way. The output stays readable all the same. */
    abandon(): void {
      isClosed = true
      isAbandoned = true
      cancelTimer?.()
    },
  }
}

/** Output that was printed is gone, and no new output is kept: nobody could tell where it belongs. */
function toLostError(path: string, how: "deleted" | "replaced"): MeanwhileError {
  const message = `The task's output file ${path} was ${how} while the task ran: what it printed is lost. Its processes were not stopped by that. Run it again where its output is needed.`
  return new MeanwhileError("store_gone", message, { path })
}

const COPY_BYTES = 1_024 * 1_024

/** How large the files of a run's output are, dropped bytes not counted. */
export function keptBytes(paths: RunPaths): number {
  const sizeBytes = sizeOf(paths)
  const { base, segment } = settleBook(readBook(paths.book), sizeBytes)
  return sizeBytes + (segment ? base - segment.start : 0)
}

/**
 * Drops all but the newest `keepBytes` of the output, in steps. A crash between two steps neither loses nor repeats bytes
 * that are kept: `recoverOutput` finishes or undoes the cut. Nobody may write while the steps run.
 *
 * 1. Copy what is kept to a new segment. 2. Write in the book what will hold once the output file is empty. 3. Empty the
 * file. 4. Write in the book that it holds now. 5. Remove segments that the book no longer names.
 */
export function toCompactionSteps(paths: RunPaths, keepBytes: number): readonly (() => Promise<void>)[] {
  const sizeBytes = sizeOf(paths)
  const before = settleBook(readBook(paths.book), sizeBytes)
  const base = before.base + sizeBytes
  const start = Math.max(base - keepBytes, firstOffsetOf(before))
  const after = { base, segment: { name: `${paths.segmentPrefix}${base}`, start } }
  return [
    () => withFileSource(paths, (source) => copyRange(source, start, base, paths, after.segment.name)),
    async () => writeBook(paths.book, { ...before, cut: { sizeBytes, ...after } }),
    async () => truncateSync(paths.output, 0),
    async () => writeBook(paths.book, { ...before, ...after }),
    async () => removeUnnamedSegments(paths, { ...before, ...after }),
  ]
}

/** Makes the book and the files of a run agree again after a crash. Nobody may write meanwhile. */
export function recoverOutput(paths: RunPaths): void {
  if (!existsSync(paths.directory)) return
  const book = readBook(paths.book)
  const settled = settleBook(book, sizeOf(paths))
  if (book.cut) writeBook(paths.book, settled)
  removeUnnamedSegments(paths, settled)
}

/** Copies what a run has printed to a segment with that name. */
export async function copyRange(
  source: OutputSource,
  start: number,
  end: number,
  { directory }: RunPaths,
  name: string,
): Promise<void> {
  const path = join(directory, name)
  const target = await open(path, "w", FILE_MODE)
  try {
    for (let from = start; from < end; from += COPY_BYTES) {
      await target.writeFile(await source.read(from, Math.min(from + COPY_BYTES, end)))
    }
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  } finally {
    await target.close()
  }
}

function removeUnnamedSegments(paths: RunPaths, book: OutputBook): void {
  for (const name of readdirSync(paths.directory)) {
    if (name.startsWith(paths.segmentPrefix) && name !== book.segment?.name) rmSync(join(paths.directory, name))
  }
}

function sizeOf(paths: RunPaths): number {
  return statSync(paths.output, { throwIfNoEntry: false })?.size ?? 0
}
