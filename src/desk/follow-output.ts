import { setImmediate } from "node:timers/promises"
import type { Clock } from "../base/clock.ts"
import type { OutputChunk, OutputRequest } from "../plugin/output.ts"

const FOLLOW_EVERY_MS = 100

export interface FollowRequest extends Pick<OutputRequest, "encoding"> {
  /** Absolute: byte 0 is the first that was ever printed. */
  readonly offset: number
  /** `ended`: until the run has ended. `now`: as far as it has printed. */
  readonly until: "ended" | "now"
  readonly signal: AbortSignal
}

/** Reads part after part. The last one has `isComplete`, unless the reader wanted less, or the signal aborted. */
export async function* followOutput(
  read: (request: OutputRequest) => Promise<OutputChunk>,
  clock: Clock,
  { offset: from, until, signal, ...request }: FollowRequest,
): AsyncGenerator<OutputChunk, void> {
  for (let offset = from; ; ) {
    const chunk = await read({ ...request, offset })
    yield chunk
    const isAtEnd = chunk.nextOffset >= chunk.totalBytes || chunk.nextOffset <= offset
    offset = chunk.nextOffset
    if (isAtEnd && (chunk.isComplete || until === "now")) return
    // Reading a file never gives way: without a pause no key is heard, and no lease renewed, before the end.
    await (isAtEnd ? pause(clock, FOLLOW_EVERY_MS, signal) : setImmediate())
    if (signal.aborted) return
  }
}

/** Until the time is over, or the signal aborts. */
function pause(clock: Clock, durationMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  const { promise, resolve } = Promise.withResolvers<void>()
  const cancel = clock.schedule(durationMs, finish)
  signal.addEventListener("abort", finish)
  return promise
  function finish(): void {
    cancel()
    signal.removeEventListener("abort", finish)
    resolve()
  }
}
