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
  readonly spool: Pick<RunSpool, "withSource">
  readonly redactor: Redactor
  readonly clock: Clock
  /** It goes on trying. */
  readonly onFailure: (error: unknown) => void
}

const LOOK_EVERY_MS = 250
/** While the store refuses. */
const TRY_AGAIN_MS = 1_000
/** At one look. Of what is printed faster, what the cap drops meanwhile is never sent. */
const MOST_BYTES = 1_024 * 1_024
const NEWLINE = 10

interface Found {
  readonly totalBytes: number
  /** Absent: there is nothing to hand on now. */
  readonly part?: Omit<OutputPart, "run">
}

const NOTHING: Found = { totalBytes: 0 }

/**
 * Hands on to the store what a run prints, without its secrets, while it prints it. Begins at once. Looking costs the
 * store nothing while nothing is printed.
 */
export function createOutputStream(options: OutputStreamOptions) {
  const { outputs, run, spool, redactor, clock } = options
  let position: number | undefined
  /** Bytes printed at the last look. */
  let seenBytes = -1
  /** Where the files began at the first look: what lay before it then is in the store alone, and was not dropped. */
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
        // It may be there all the same.
        position = undefined
        isInDoubt = true
        throw error
      }
      isStopped = true
      return NOTHING
    }
  }

  /** Behind what is there: of earlier claims of the run, or of pieces whose answer was lost. */
  async function findPosition(): Promise<number> {
    if (run.fence === 1 && !isInDoubt) return 0
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
   * Secrets are found in whole lines, with what lies around them. A line that is still being printed waits, until
   * nothing was added to it for a while or it is longer than what a secret is looked for in.
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
    /** Resolves when all that was printed is stored, or is no longer ours to store. Rejected, it can be asked again. */
    async finish(): Promise<void> {
      stopLooking()
      await looking
      while ((await handOn(true)).part);
      isFinished = !isStopped
    },
    /**
     * Hands on what was printed so far, as much as one look takes and but for a line that is still being printed, and
     * then nothing more by itself.
     */
    async pause(): Promise<void> {
      stopLooking()
      await looking
      await look()
    },
    /** All of it is stored. */
    get isFinished() {
      return isFinished
    },
    /** Hands on nothing more. */
    stop(): void {
      isStopped = true
      stopLooking()
    },
  }
}

/** Somebody else has the run, or it is gone. */
function isOthers(error: unknown): boolean {
  return (["stale_claim", "not_found", "closed"] as const).some((code) => isMeanwhileError(error, code))
}
