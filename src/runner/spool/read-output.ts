import { MeanwhileError } from "../../base/error.ts"
import type { OutputChunk, OutputRequest } from "../../plugin/output.ts"
import type { Redactor } from "../redaction/redactor.ts"
import { scanLines, toLineTest } from "./line-scan.ts"
import type { OutputSource } from "./output-source.ts"
import { countUnfinished, readRedacted } from "./redacted-range.ts"
import { countContinuation, cutCharacterBytes } from "./text-border.ts"

export const DEFAULT_READ_BYTES = 64 * 1_024
/** However much is asked for: a reader takes the rest with its next call. */
const LARGEST_READ_BYTES = 8 * 1_024 * 1_024
/** A filter that matches nothing returns after so much, with where to go on. */
const LARGEST_SCAN_BYTES = 64 * 1_024 * 1_024
const LONGEST_CHARACTER_BYTES = 4

interface Reading {
  readonly redactor: Redactor
  /** The run has ended: nothing will be added. */
  readonly isComplete: boolean
}

export async function readOutput(source: OutputSource, request: OutputRequest, reading: Reading): Promise<OutputChunk> {
  requireValid(request)
  const asked = request.tailBytes === undefined ? (request.offset ?? 0) : await tailOffset(source, request.tailBytes)
  const offset = Math.max(asked, source.firstOffset)
  const limitBytes = Math.min(
    Math.max(request.limitBytes ?? request.tailBytes ?? DEFAULT_READ_BYTES, LONGEST_CHARACTER_BYTES),
    LARGEST_READ_BYTES,
  )
  const { text, nextOffset } = request.filter
    ? await readLines(source, reading, offset, limitBytes, request.filter)
    : await readRange(source, { ...reading, encoding: request.encoding ?? "utf8" }, offset, limitBytes)
  return {
    text,
    offset,
    nextOffset,
    totalBytes: source.totalBytes,
    droppedBefore: asked < source.firstOffset ? source.firstOffset : null,
    isComplete: reading.isComplete && nextOffset >= source.totalBytes,
  }
}

/** A tail begins with a whole character: the rest of one that was cut is left out. */
async function tailOffset(source: OutputSource, tailBytes: number): Promise<number> {
  const offset = Math.max(source.totalBytes - tailBytes, 0)
  if (offset <= source.firstOffset) return offset
  const bytes = await source.read(offset, Math.min(offset + LONGEST_CHARACTER_BYTES - 1, source.totalBytes))
  return offset + countContinuation(bytes)
}

type Part = Pick<OutputChunk, "text" | "nextOffset">

interface RangeReading extends Reading {
  readonly encoding: "utf8" | "latin1"
}

async function readRange(
  source: OutputSource,
  reading: RangeReading,
  offset: number,
  limitBytes: number,
): Promise<Part> {
  let end = Math.min(offset + limitBytes, source.totalBytes)
  const reachesEnd = end === source.totalBytes
  if (reachesEnd && !reading.isComplete) end -= await countUnfinished(source, reading.redactor)
  if (end <= offset) return { text: "", nextOffset: offset }
  const bytes = await readRedacted(source, reading.redactor, offset, end)
  const isWhole = reading.encoding === "latin1" || (reachesEnd && reading.isComplete)
  const whole = isWhole ? bytes : bytes.subarray(0, bytes.length - cutCharacterBytes(bytes))
  return { text: whole.toString(reading.encoding), nextOffset: offset + whole.byteLength }
}

async function readLines(
  source: OutputSource,
  reading: Reading,
  offset: number,
  limitBytes: number,
  filter: RegExp | string,
): Promise<Part> {
  const isMatch = toLineTest(filter)
  let text = ""
  let textBytes = 0
  let nextOffset = offset
  for await (const line of scanLines(source, reading.redactor, offset)) {
    if (line.kind === "rest" && !reading.isComplete) break
    if (isMatch(line)) {
      text += line.kind === "line" ? `${line.text}\n` : line.text
      textBytes += line.end - line.start
    }
    nextOffset = line.end
    if (textBytes >= limitBytes || nextOffset - offset >= LARGEST_SCAN_BYTES) break
  }
  return { text, nextOffset }
}

function requireValid(request: OutputRequest): void {
  const { encoding = "utf8", filter } = request
  if (encoding !== "utf8" && encoding !== "latin1")
    throw new MeanwhileError("invalid_input", "`encoding` must be `utf8` or `latin1`.", { encoding })
  if (encoding === "latin1" && filter !== undefined)
    throw new MeanwhileError("invalid_input", "A `filter` is for text: leave it out, or `encoding`.", { encoding })
  for (const name of ["offset", "tailBytes", "limitBytes"] as const) {
    const value = request[name]
    if (value === undefined || (Number.isSafeInteger(value) && value >= 0)) continue
    throw new MeanwhileError("invalid_input", `${name} must be a whole number of bytes, 0 or more.`, { [name]: value })
  }
}
