import type { Clock } from "../../base/clock.ts"
import type { PatternAnswer, PatternRequest } from "../../plugin/output.ts"
import type { Redactor } from "../redaction/redactor.ts"
import { OVERLAP_CHARACTERS, type ScannedLine, scanLines, toLineTest } from "./read-output.ts"
import { toNewestExecution } from "./one-execution.ts"
import type { OutputSource } from "./output-files.ts"

/** Calls the listener when another worker's run has printed something, or needlessly. Returns how to stop listening. */
export type OnPrinted = (listener: () => void) => () => void

export interface PatternWait {
  readonly clock: Clock
  readonly redactor: Redactor
  readonly request: PatternRequest
  /** Resolves or aborts when the run will print nothing more. */
  readonly ended: Promise<void> | AbortSignal
  /** True if a look asks the store: looks are rarer then, and `onPrinted` tells of new output. */
  readonly isFar: () => boolean
  readonly onPrinted: OnPrinted | undefined
  readonly withSource: <Result>(use: (source: OutputSource) => Promise<Result>) => Promise<Result>
}

const LOOK_EVERY_MS = 50
/** While `isFar`: a call of `onPrinted` may be lost. */
const LOOK_FAR_EVERY_MS = 500
/**
 * A line without its newline counts once nothing was added to it for this long: a prompt never gets a newline. A request
 * with no time to wait takes the line as it stands.
 */
const QUIET_MS = 200

/** The outcome of the last look. */
interface Seen {
  readonly totalBytes: number
  /** When the output was last seen to have grown. */
  readonly atMs: number
  readonly hasTakenRest: boolean
  readonly nextOffset: number
}

/** Reads new output of the newest execution line by line, and holds no more than a window of one line. */
export async function waitForPattern(wait: PatternWait): Promise<PatternAnswer> {
  const { clock, request } = wait
  const startedAt = clock.monotonic()
  const wakeUp = createWakeUp(wait.ended, request.signal)
  const stopListening = wait.onPrinted?.(wakeUp.nudge)
  let seen: Seen = { totalBytes: -1, atMs: startedAt, hasTakenRest: false, nextOffset: request.offset ?? 0 }

  /** Changes nothing, because `withSource` calls it again when the output was cut during the read. */
  async function look(source: OutputSource, isOver: boolean): Promise<Seen & { readonly line?: ScannedLine }> {
    const { totalBytes } = source
    const now = clock.monotonic()
    const hasGrown = totalBytes !== seen.totalBytes
    const takesRest = isOver || request.timeoutMs === 0 || (!hasGrown && now - seen.atMs >= QUIET_MS)
    if (!hasGrown && (!takesRest || seen.hasTakenRest)) return seen
    const found = await findMatch(source, wait, seen.nextOffset, takesRest)
    return { totalBytes, atMs: hasGrown ? now : seen.atMs, hasTakenRest: takesRest, ...found }
  }

  try {
    for (;;) {
      // Asked before the look, so that the look sees everything printed before the end.
      const isOver = wakeUp.hasEnded()
      const { line, ...found } = await wait.withSource((source) => look(source, isOver))
      if (line) {
        return { outcome: "matched", line: line.text.replace(/\r$/, ""), offset: line.start, nextOffset: line.end }
      }
      seen = found
      const { nextOffset } = seen
      if (request.signal?.aborted) return { outcome: "aborted", nextOffset }
      if (isOver) return { outcome: "ended", nextOffset }
      const leftMs = startedAt + request.timeoutMs - clock.monotonic()
      if (leftMs <= 0) return { outcome: "timed_out", nextOffset }
      await wakeUp.wait(clock, Math.min(leftMs, wait.isFar() ? LOOK_FAR_EVERY_MS : LOOK_EVERY_MS))
    }
  } finally {
    stopListening?.()
    wakeUp.close()
  }
}

async function findMatch(
  whole: OutputSource,
  wait: PatternWait,
  offset: number,
  takesRest: boolean,
): Promise<{ readonly line?: ScannedLine; readonly nextOffset: number }> {
  const isMatch = toLineTest(wait.request.pattern)
  const { source, restartedAt } = toNewestExecution(whole)
  const start = Math.max(offset, restartedAt ?? 0)
  let nextOffset = start
  for await (const line of scanLines(source, wait.redactor, start)) {
    if ((line.kind !== "rest" || takesRest) && isMatch(line)) return { line, nextOffset: line.end }
    // The rest is read again as a whole, and so is the end of a window: a match may go on after it.
    if (line.kind === "line") nextOffset = line.end
    else if (line.kind === "window") nextOffset = line.end - OVERLAP_CHARACTERS
  }
  return { nextOffset }
}

function createWakeUp(ended: Promise<void> | AbortSignal, signal: AbortSignal | undefined) {
  let isOver = ended instanceof AbortSignal && ended.aborted
  let woken = Promise.withResolvers<void>()
  /** Says that there may be something new. Called during a look, it causes another look. */
  const nudge = (): void => woken.resolve()
  const onEnded = (): void => {
    isOver = true
    nudge()
  }
  signal?.addEventListener("abort", nudge)
  if (ended instanceof AbortSignal) ended.addEventListener("abort", onEnded)
  else void ended.then(onEnded, onEnded)
  return {
    nudge,
    hasEnded: (): boolean => isOver,
    /** Waits until the time is over, there may be something new, the run ends, or the caller gives up. */
    async wait(clock: Clock, delayMs: number): Promise<void> {
      const cancelTimer = clock.schedule(delayMs, nudge)
      await woken.promise
      cancelTimer()
      woken = Promise.withResolvers()
    },
    close(): void {
      signal?.removeEventListener("abort", nudge)
      if (ended instanceof AbortSignal) ended.removeEventListener("abort", onEnded)
    },
  }
}
