import type { Redactor } from "../redaction/redactor.ts"
import type { OutputSource } from "./output-source.ts"

/**
 * The bytes of a range, redacted and as long as they were. What lies around the range is looked at too, so that a secret
 * is found whatever offsets were asked for.
 */
export async function readRedacted(
  source: OutputSource,
  redactor: Redactor,
  start: number,
  end: number,
): Promise<Buffer> {
  const from = Math.max(start - redactor.contextBytes, source.firstOffset)
  const to = Math.min(end + redactor.contextBytes, source.totalBytes)
  const bytes = redactor.redactBytes(await source.read(from, to))
  return bytes.subarray(start - from, end - from)
}

/** How much at the end of the output may be the beginning of a secret that is still being printed. */
export async function countUnfinished(source: OutputSource, redactor: Redactor): Promise<number> {
  const start = Math.max(source.totalBytes - redactor.longestUnfinishedBytes, source.firstOffset)
  return redactor.countUnfinished(await source.read(start, source.totalBytes))
}
