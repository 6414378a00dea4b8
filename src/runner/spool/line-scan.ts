import type { Redactor } from "../redaction/redactor.ts"
import type { OutputSource } from "./output-source.ts"
import { readRedacted } from "./redacted-range.ts"
import { cutCharacterBytes } from "./text-border.ts"

/** A line of output, or a window of one that is too long to hold whole. */
export interface ScannedLine {
  /** Redacted, without the newline. */
  readonly text: string
  /** The end of the window before it, when it is not the first of its line: a match may begin there. */
  readonly before: string
  readonly start: number
  /** Where the next one begins. */
  readonly end: number
  /** `rest`: the output ends here, without a newline so far. */
  readonly kind: "line" | "window" | "rest"
}

const BLOCK_BYTES = 256 * 1_024
const WINDOW_BYTES = 64 * 1_024
export const OVERLAP_CHARACTERS = 1_024
const NEWLINE = 10

/** Every line from an absolute offset to the end of what is there, in bounded memory. */
export async function* scanLines(
  source: OutputSource,
  redactor: Redactor,
  offset: number,
): AsyncGenerator<ScannedLine, void, undefined> {
  let start = Math.max(offset, source.firstOffset)
  let unread = start
  let before = ""
  let bytes: Buffer = Buffer.alloc(0)

  function take(textBytes: number, byteCount: number, kind: ScannedLine["kind"]): ScannedLine {
    const text = bytes.toString("utf8", 0, textBytes)
    const line = { text, before, start, end: start + byteCount, kind }
    before = kind === "window" ? text.slice(-OVERLAP_CHARACTERS) : ""
    bytes = bytes.subarray(byteCount)
    start += byteCount
    return line
  }

  while (unread < source.totalBytes) {
    const block = await readRedacted(source, redactor, unread, Math.min(unread + BLOCK_BYTES, source.totalBytes))
    if (block.byteLength === 0) return
    bytes = Buffer.concat([bytes, block])
    unread += block.byteLength
    for (;;) {
      const newline = bytes.indexOf(NEWLINE)
      if (newline >= 0 && newline <= WINDOW_BYTES) {
        yield take(newline, newline + 1, "line")
      } else if (bytes.byteLength > WINDOW_BYTES) {
        const size = WINDOW_BYTES - cutCharacterBytes(bytes.subarray(0, WINDOW_BYTES))
        yield take(size, size, "window")
      } else break
    }
  }
  if (bytes.byteLength > 0) yield take(bytes.byteLength, bytes.byteLength, "rest")
}

/** The pattern without the flags that make it remember where it was. */
export function toLineTest(pattern: RegExp | string): (line: ScannedLine) => boolean {
  if (typeof pattern === "string") return (line) => (line.before + line.text).includes(pattern)
  const stateless = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ""))
  return (line) => stateless.test(line.before + line.text)
}
