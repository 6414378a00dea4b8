import { rmSync, writeFileSync } from "node:fs"
import type { CancelTimer, Clock } from "../../base/clock.ts"
import { MeanwhileError } from "../../base/error.ts"
import { continueTree, pauseTree } from "../process/pause-tree.ts"
import type { ProcessTree } from "../process/tree.ts"
import { compactOutput, keptBytes } from "./compaction.ts"
import type { OutputAppender } from "./output-appender.ts"
import { FILE_MODE, type RunPaths } from "./run-paths.ts"

/** Keeps the output of one run below its limit while it is written. */
export interface OutputCap {
  /** Looks at the size from time to time for as long as there are processes. */
  watch(): void
  /** Looks now. */
  check(): void
  /** The same; resolves when what is past the limit is cut. */
  settle(): Promise<void>
  /** Stops looking; resolves when a cut that was under way is done. */
  close(): Promise<void>
  /** Stops looking, and goes no step further with a cut that is under way. */
  abandon(): void
}

export interface OutputCapOptions {
  readonly paths: RunPaths
  readonly clock: Clock
  readonly limitBytes: number
  readonly appender: OutputAppender
  /** Asked before a cut: a worker that stood still may have lost the run without having heard of it. */
  readonly isOurs: () => Promise<boolean>
  /** Processes that may write to the file beside the appender. Empty: there is none, and the watch ends. */
  readonly trees: () => readonly ProcessTree[]
  readonly onDropped: (before: number) => void
  readonly onFailure: (error: unknown) => void
  /** The watch has ended by itself. */
  readonly onIdle: () => void
}

const FIRST_LOOK_MS = 25
const SHORTEST_LOOK_MS = 10
const LONGEST_LOOK_MS = 250
/** A run whose output cannot be cut is stopped past this multiple of its limit. */
const UNCUT_FACTOR = 4

export function createOutputCap(options: OutputCapOptions): OutputCap {
  const { paths, clock, limitBytes } = options
  let cancelTimer: CancelTimer | undefined
  let cutting: Promise<void> | undefined
  let isClosed = false
  let isAbandoned = false
  let last = { keptBytes: 0, atMs: clock.monotonic() }

  function schedule(delayMs: number): void {
    cancelTimer = clock.schedule(delayMs, () => {
      cancelTimer = undefined
      check()
      if (isClosed) return
      if (options.trees().length === 0) return options.onIdle()
      const next = (): void => schedule(nextLookMs())
      if (cutting) void cutting.then(() => !isClosed && next())
      else next()
    })
  }

  /** Half the time in which a writer as fast as now reaches the limit. */
  function nextLookMs(): number {
    const now = { keptBytes: keptBytes(paths), atMs: clock.monotonic() }
    const bytesPerMs = (now.keptBytes - last.keptBytes) / Math.max(now.atMs - last.atMs, 1)
    last = now
    const untilFullMs = bytesPerMs > 0 ? (limitBytes - now.keptBytes) / bytesPerMs : LONGEST_LOOK_MS
    return Math.min(Math.max(untilFullMs / 2, SHORTEST_LOOK_MS), LONGEST_LOOK_MS)
  }

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
      // Cutting under a moving writer could lose a byte of what is kept. The next look tries again.
      if (paused.includes(false)) return requireBelow(limitBytes * UNCUT_FACTOR)
      const cut = await compactOutput(paths, Math.floor(limitBytes / 2), () => !isAbandoned)
      if (cut) options.onDropped(cut.droppedBefore)
    } finally {
      for (const tree of trees) continueTree(tree)
      rmSync(paths.paused, { force: true })
    }
  }

  function requireBelow(mostBytes: number): void {
    if (keptBytes(paths) <= mostBytes) return
    const message = `It printed more than ${mostBytes} bytes and cannot be held for its output to be cut. Let it print less.`
    throw new MeanwhileError("limit_exceeded", message, { limitBytes })
  }

  return {
    watch() {
      if (!cancelTimer && !isClosed) schedule(FIRST_LOOK_MS)
    },
    check,
    async settle() {
      // A look under way has not seen output printed since it began.
      await cutting
      check()
      await cutting
    },
    async close() {
      // Output printed since the last look counts too.
      check()
      isClosed = true
      cancelTimer?.()
      await cutting
    },
    abandon() {
      isClosed = true
      isAbandoned = true
      cancelTimer?.()
    },
  }
}
