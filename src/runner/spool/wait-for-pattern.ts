import type { Clock } from "../../base/clock.ts"
import type { PatternAnswer, PatternRequest } from "../../plugin/output.ts"
import type { Redactor } from "../redaction/redactor.ts"
import { OVERLAP_CHARACTERS, type ScannedLine, scanLines, toLineTest } from "./line-scan.ts"
import type { OutputSource } from "./output-source.ts"

export interface PatternWait {
  readonly clock: Clock
  readonly redactor: Redactor
  readonly request: PatternRequest
  /** Nothing will be added to the output any more. */
  readonly ended: Promise<void> | AbortSignal
  readonly withSource: <Result>(use: (source: OutputSource) => Promise<Result>) => Promise<Result>
}

const LOOK_EVERY_MS = 50
/** A line without its newline counts once nothing was added to it for so long: a prompt never gets one. Who does not wait takes it as it stands. */
const QUIET_MS = 200

/** Looks at what was added, by line, and holds no more than a window of one. */
export async function waitForPattern(wait: PatternWait): Promise<PatternAnswer> {
  const { clock, request } = wait
  const startedAt = clock.monotonic()
  const wakeUp = createWakeUp(wait.ended, request.signal)
  let nextOffset = request.offset ?? 0
  let last = { totalBytes: -1, atMs: startedAt, hasTakenRest: false }

  async function look(source: OutputSource, isOver: boolean): Promise<ScannedLine | undefined> {
    const { totalBytes } = source
    const now = clock.monotonic()
    const hasGrown = totalBytes !== last.totalBytes
    const takesRest = isOver || request.timeoutMs === 0 || (!hasGrown && now - last.atMs >= QUIET_MS)
    if (!hasGrown && (!takesRest || last.hasTakenRest)) return undefined
    last = { totalBytes, atMs: hasGrown ? now : last.atMs, hasTakenRest: takesRest }
    const found = await findMatch(source, wait, nextOffset, takesRest)
    nextOffset = found.nextOffset
    return found.line
  }

  try {
    for (;;) {
      // Asked before looking: whatever was printed before the end is then seen.
      const isOver = wakeUp.hasEnded()
      const line = await wait.withSource((source) => look(source, isOver))
      if (line) return toMatched(line)
      if (request.signal?.aborted) return { outcome: "aborted", nextOffset }
      if (isOver) return { outcome: "ended", nextOffset }
      const leftMs = startedAt + request.timeoutMs - clock.monotonic()
      if (leftMs <= 0) return { outcome: "timed_out", nextOffset }
      await wakeUp.wait(clock, Math.min(leftMs, LOOK_EVERY_MS))
    }
  } finally {
    wakeUp.close()
  }
}

async function findMatch(
  source: OutputSource,
  wait: PatternWait,
  offset: number,
  takesRest: boolean,
): Promise<{ readonly line?: ScannedLine; readonly nextOffset: number }> {
  const isMatch = toLineTest(wait.request.pattern)
  let nextOffset = offset
  for await (const line of scanLines(source, wait.redactor, offset)) {
    if ((line.kind !== "rest" || takesRest) && isMatch(line)) return { line, nextOffset: line.end }
    // The rest is looked at again as a whole, and so is the end of a window: a match may go on after it.
    if (line.kind === "line") nextOffset = line.end
    else if (line.kind === "window") nextOffset = line.end - OVERLAP_CHARACTERS
  }
  return { nextOffset }
}

function toMatched(line: ScannedLine): PatternAnswer {
  return { outcome: "matched", line: line.text.replace(/\r$/, ""), offset: line.start, nextOffset: line.end }
}

interface WakeUp {
  hasEnded(): boolean
  /** Until the time is over, the run ends, or the wait is given up. */
  wait(clock: Clock, delayMs: number): Promise<void>
  close(): void
}

function createWakeUp(ended: Promise<void> | AbortSignal, signal: AbortSignal | undefined): WakeUp {
  let wake: () => void = () => undefined
  let isOver = ended instanceof AbortSignal && ended.aborted
  const onSignal = (): void => wake()
  const onEnded = (): void => {
    isOver = true
    wake()
  }
  signal?.addEventListener("abort", onSignal)
  if (ended instanceof AbortSignal) ended.addEventListener("abort", onEnded)
  else void ended.then(onEnded, onEnded)
  return {
    hasEnded: () => isOver,
    wait: (clock, delayMs) =>
      new Promise((resolve) => {
        if (isOver || signal?.aborted) return resolve()
        const cancelTimer = clock.schedule(delayMs, resolve)
        wake = () => {
          cancelTimer()
          resolve()
        }
      }),
    close() {
      signal?.removeEventListener("abort", onSignal)
      if (ended instanceof AbortSignal) ended.removeEventListener("abort", onEnded)
    },
  }
}
