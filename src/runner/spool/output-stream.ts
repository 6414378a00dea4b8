import type { CancelTimer, Clock } from "../../base/clock.ts"
import { isMeanwhileError } from "../../base/error.ts"
import type { OutputPart, Outputs } from "../../task/outputs.ts"
import type { Redactor } from "../redaction/redactor.ts"
import type { OutputSource } from "./output-files.ts"
import { countUnfinished, readRedacted } from "./read-output.ts"
import type { RunSpool } from "./run-spool.ts"

export type OutputStream = ReturnType<typeof createOutputStream>

export interface OutputStreamOptions {
  readonly outputs: Outputs
  readonly run: OutputPart["run"]
  /** True if nobody has sent output of this run before. */
  readonly isFirst: boolean
  readonly spool: Pick<RunSpool, "withSource">
  readonly redactor: Redactor
  readonly clock: Clock
  /** Called at each failure. The stream tries again. */
  readonly onFailure: (error: unknown) => void
}

const LOOK_EVERY_MS = 250
/** The delay after a failure. */
const TRY_AGAIN_MS = 1_000
/** Sent at one look. If a run prints faster, the store never gets what the cap drops meanwhile. */
const MOST_BYTES = 1_024 * 1_024
const NEWLINE = 10

interface Found {
  readonly totalBytes: number
  /** Absent: there is nothing to hand on now. */
  readonly part?: Omit<OutputPart, "run">
}

const NOTHING: Found = { totalBytes: 0 }

/**
 * Sends what a run prints to the store, redacted, while the run prints it. Begins at once. While nothing is printed,
 * looking costs the store nothing.
 */
export function createOutputStream(options: OutputStreamOptions) {
  const { outputs, run, isFirst, spool, redactor, clock } = options
  let position: number | undefined
  /** How many bytes had been printed at the last look. */
  let seenBytes = -1
  /** Where the files began at the first look. Earlier output is in the store alone; the cap did not drop it. */
  let beganAt: number | undefined
  let isInDoubt = false
  let isStopped = false
  let isFinished = false
  let cancelTimer: CancelTimer | undefined = schedule(LOOK_EVERY_MS)
  let looking: Promise<unknown> = Promise.resolve()

  function schedule(delayMs: number): CancelTimer {
    const onTime = (): void => {
      looking = lookAndGoOn()
    }
    return clock.schedule(delayMs, onTime, { isBackground: true })
  }

  async function lookAndGoOn(): Promise<void> {
    let delayMs = LOOK_EVERY_MS
    try {
      await look()
    } catch (error) {
      options.onFailure(error)
      delayMs = TRY_AGAIN_MS
    }
    if (cancelTimer && !isStopped) cancelTimer = schedule(delayMs)
  }

  async function look(): Promise<void> {
    seenBytes = (await handOn(false)).totalBytes
  }

  async function handOn(isOver: boolean): Promise<Found> {
    if (isStopped) return NOTHING
    try {
      const from = (position ??= await findPosition())
      const found = await spool.withSource((source) => readPart(source, from, isOver))
      if (!found.part) return found
      await outputs.append({ run, ...found.part })
      position = found.part.start + found.part.bytes.byteLength
      return found
    } catch (error) {
      if (!isOthers(error)) {
        // The store may have the part all the same.
        position = undefined
        isInDoubt = true
        throw error
      }
      isStopped = true
      return NOTHING
    }
  }

  /**
   * Where the store's output ends: it may have some of earlier claims of the run, of the lost worker that sent these files
   * under the same claim, or parts whose answer was lost.
   */
  async function findPosition(): Promise<number> {
    if (isFirst && !isInDoubt) return 0
    return (await outputs.extent(run.taskId, run.run))?.totalBytes ?? 0
  }

  async function readPart(source: OutputSource, from: number, isOver: boolean): Promise<Found> {
    const { totalBytes } = source
    beganAt ??= source.firstOffset <= from ? source.firstOffset : 0
    const keepFrom = source.firstOffset > beganAt ? source.firstOffset : 0
    const start = Math.max(from, source.firstOffset)
    if (totalBytes <= start) return { totalBytes }
    const safe = isOver ? totalBytes : await findSafeEnd(source, start)
    const end = Math.min(safe, start + MOST_BYTES)
    if (end <= start) return { totalBytes }
    return { totalBytes, part: { start, bytes: await readRedacted(source, redactor, start, end), keepFrom } }
  }

  /**
   * Secrets are found in whole lines, with what lies around them. So a line that is still being printed waits, until
   * nothing is added to it between two looks or it is longer than the redactor's context.
   */
  async function findSafeEnd(source: OutputSource, start: number): Promise<number> {
    const { totalBytes } = source
    if (totalBytes === seenBytes) return totalBytes - (await countUnfinished(source, redactor))
    const windowStart = Math.max(start, totalBytes - redactor.contextBytes)
    const window = await source.read(windowStart, totalBytes)
    const lines = window.subarray(0, window.lastIndexOf(NEWLINE) + 1)
    return windowStart + lines.byteLength - redactor.countUnfinished(lines)
  }

  function stopLooking(): void {
    cancelTimer?.()
    cancelTimer = undefined
  }

  return {
    /** Resolves when all that was printed is stored, or is no longer ours to store. After a rejection, call it again. */
    async finish(): Promise<void> {
      stopLooking()
      await looking
      while ((await handOn(true)).part);
      isFinished = !isStopped
    },
    /**
     * Sends what was printed so far, no more than one look takes and without a line that is still being printed. Then it
     * looks no more by itself.
     */
    async pause(): Promise<void> {
      stopLooking()
      await looking
      await look()
    },
    /** True once `finish` has stored all that was printed. */
    get isFinished() {
      return isFinished
    },
    /** Sends nothing more. */
    stop(): void {
      isStopped = true
      stopLooking()
    },
  }
}

/** True if the output is no longer ours to store: another worker has the run, it is gone, or the store is closed. */
function isOthers(error: unknown): boolean {
  return (["stale_claim", "not_found", "closed"] as const).some((code) => isMeanwhileError(error, code))
}
