import type { LanguageModelV4StreamPart, LanguageModelV4StreamResult } from "@ai-sdk/provider"
import { unlessAborted } from "../../base/unless-aborted.ts"

type PartStream = ReadableStream<LanguageModelV4StreamPart>

/**
 * Hands over every part in order. Contract: an abort ends it at once with the signal's reason, whatever the stream
 * does; nothing is read any more once it has ended.
 */
export async function readParts(
  stream: PartStream,
  signal: AbortSignal,
  take: (part: LanguageModelV4StreamPart) => void,
  toError: (error: unknown) => Error,
): Promise<void> {
  const reader = stream.getReader()
  const stop = () => void reader.cancel(signal.reason).catch(() => undefined)
  signal.addEventListener("abort", stop, { once: true })
  if (signal.aborted) stop()
  let isReading = true
  try {
    for (;;) {
      isReading = true
      const next = await reader.read()
      isReading = false
      if (next.done) break
      take(next.value)
    }
    signal.throwIfAborted()
  } catch (error) {
    stop()
    throw isReading ? toError(error) : error
  } finally {
    signal.removeEventListener("abort", stop)
  }
}

/** Parts that arrive after the abort are dropped. */
export async function untilAborted(
  opening: Promise<LanguageModelV4StreamResult>,
  signal: AbortSignal,
): Promise<PartStream> {
  try {
    return (await unlessAborted(signal, opening)).stream
  } catch (error) {
    void opening.then(({ stream }) => stream.cancel()).catch(() => undefined)
    throw error
  }
}
