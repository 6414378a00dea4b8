import { setImmediate } from "node:timers/promises"
import type { Clock } from "../base/clock.ts"
import { lookUntil } from "../base/look-until.ts"
import type { OutputChunk, OutputRequest } from "../plugin/output.ts"

const FOLLOW_EVERY_MS = 100

export interface FollowRequest extends Pick<OutputRequest, "encoding"> {
  /** Absolute: byte 0 is the first that was ever printed. Default 0. */
  readonly offset?: number
  /** `ended`: until the run has ended. `now`: as far as it has printed. Default `ended`. */
  readonly until?: "ended" | "now"
  /** Ends the reading early. */
  readonly signal?: AbortSignal
}

/**
 * Reads part after part. The last one has `isComplete`, unless the reader wanted less, the signal aborted, or the output was
 * deleted. Output that a task of this machine prints publishes no wake-up, so this polls.
 */
export async function* followOutput(
  read: (request: OutputRequest) => Promise<OutputChunk>,
  clock: Clock,
  { offset: from = 0, until = "ended", ...request }: Omit<FollowRequest, "signal">,
  signal: AbortSignal,
): AsyncGenerator<OutputChunk, void> {
  /**
   * Reads once. Undefined if there is nothing else than before. Bytes that may be part of a secret or of a character are
   * held back.
   */
  const readMore = async (last: OutputChunk): Promise<OutputChunk | undefined> => {
    const next = await read({ ...request, offset: last.nextOffset })
    const isChanged = next.isComplete !== last.isComplete || next.restartedAt !== last.restartedAt
    return next.nextOffset > last.nextOffset || isChanged ? next : undefined
  }
  const waitForMore = (last: OutputChunk): Promise<OutputChunk | undefined> =>
    lookUntil({
      clock,
      pollMs: FOLLOW_EVERY_MS,
      signals: [signal],
      keepsProcessAlive: true,
      subscribe: () => () => undefined,
      look: () => readMore(last),
    })
  let chunk: OutputChunk | undefined = await read({ ...request, offset: from })
  for (let offset = from; chunk; ) {
    yield chunk
    const isAtEnd = chunk.nextOffset >= chunk.totalBytes || chunk.nextOffset <= offset
    offset = chunk.nextOffset
    if (isAtEnd && (chunk.isComplete || until === "now" || chunk.droppedBefore === "all")) return
    // Reading a file never yields: without a pause no key would be read, and no lease renewed, before the end.
    if (!isAtEnd) await setImmediate()
    if (signal.aborted) return
    chunk = await (until === "now" ? readMore : waitForMore)(chunk)
  }
}
