import { MeanwhileError } from "../../base/error.ts"
import type { OutputChunk, OutputRequest } from "../../plugin/output.ts"
import type { Redactor } from "../redaction/redactor.ts"
import { toExecutionAt, toNewestExecution } from "./one-execution.ts"
import type { OutputSource } from "./output-files.ts"

export const DEFAULT_READ_BYTES = 64 * 1_024
/** The most that one call returns. A reader gets the rest with its next call. */
const LARGEST_READ_BYTES = 8 * 1_024 * 1_024
/** A read whose filter matches nothing returns after this much, with the offset at which to go on. */
const LARGEST_SCAN_BYTES = 64 * 1_024 * 1_024
const LONGEST_CHARACTER_BYTES = 4

interface Reading {
  readonly redactor: Redactor
  /** The run has ended: nothing will be added. */
  readonly isComplete: boolean
}

/**
 * With an offset or a tail, reads within one execution; without, everything from the beginning. A line, a character or a
 * secret never consists of what two executions printed.
 */
export async function readOutput(source: OutputSource, request: OutputRequest, reading: Reading): Promise<OutputChunk> {
  requireValid(request)
  const limitBytes = Math.min(
    Math.max(request.limitBytes ?? request.tailBytes ?? DEFAULT_READ_BYTES, LONGEST_CHARACTER_BYTES),
    LARGEST_READ_BYTES,
  )
  let read = await readExecution(source, { ...request, limitBytes }, reading)
  if (request.offset !== undefined || request.tailBytes !== undefined) return read
  while (source.restarts.includes(read.nextOffset) && read.restartedAt !== read.nextOffset) {
    const leftBytes = limitBytes - Buffer.byteLength(read.text, request.encoding)
    if (leftBytes < LONGEST_CHARACTER_BYTES) break
    const next = await readExecution(source, { ...request, offset: read.nextOffset, limitBytes: leftBytes }, reading)
    read = { ...next, text: read.text + next.text, offset: read.offset, droppedBefore: read.droppedBefore }
  }
  return read
}

async function readExecution(
  whole: OutputSource,
  { offset: from = 0, tailBytes, limitBytes, filter, encoding }: OutputRequest & { readonly limitBytes: number },
  running: Reading,
): Promise<OutputChunk> {
  const execution =
    tailBytes === undefined ? toExecutionAt(whole, Math.max(from, whole.firstOffset)) : toNewestExecution(whole)
  const { source, restartedAt, isNewest } = execution
  const reading = { ...running, isComplete: running.isComplete || !isNewest }
  const asked = tailBytes === undefined ? from : Math.max(await tailOffset(source, tailBytes), restartedAt ?? 0)
  const offset = Math.max(asked, source.firstOffset)
  const { text, nextOffset } = filter
    ? await readLines(source, reading, offset, limitBytes, filter)
    : await readRange(source, reading, offset, limitBytes, encoding ?? "utf8")
  return {
    text,
    offset,
    nextOffset,
    totalBytes: whole.totalBytes,
    droppedBefore: asked < source.firstOffset ? source.firstOffset : null,
    restartedAt,
    isComplete: running.isComplete && isNewest && nextOffset >= source.totalBytes,
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

async function readRange(
  source: OutputSource,
  reading: Reading,
  offset: number,
  limitBytes: number,
  encoding: "utf8" | "latin1",
): Promise<Part> {
  let end = Math.min(offset + limitBytes, source.totalBytes)
  const reachesEnd = end === source.totalBytes
  if (reachesEnd && !reading.isComplete) end -= await countUnfinished(source, reading.redactor)
  if (end <= offset) return { text: "", nextOffset: offset }
  const bytes = await readRedacted(source, reading.redactor, offset, end)
  const isWhole = encoding === "latin1" || (reachesEnd && reading.isComplete)
  const whole = isWhole ? bytes : bytes.subarray(0, bytes.length - cutCharacterBytes(bytes))
  return { text: whole.toString(encoding), nextOffset: offset + whole.byteLength }
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

/** A line of output, or a window of one that is too long to hold whole. */
export interface ScannedLine {
  /** Redacted, without the newline. */
  readonly text: string
  /** The end of the window before, unless this is the first window of its line: a match may begin there. */
  readonly before: string
  readonly start: number
  /** The offset at which the next line or window begins. */
  readonly end: number
  /** `rest`: the output ends here, without a newline so far. */
  readonly kind: "line" | "window" | "rest"
}

const BLOCK_BYTES = 256 * 1_024
const WINDOW_BYTES = 64 * 1_024
export const OVERLAP_CHARACTERS = 1_024
const NEWLINE = 10

/** Every line from an absolute offset to the end of the output so far, in bounded memory. */
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

/** Tests lines with the pattern, without the flags that make a RegExp remember where it was. */
export function toLineTest(pattern: RegExp | string): (line: ScannedLine) => boolean {
  if (typeof pattern === "string") return (line) => (line.before + line.text).includes(pattern)
  const stateless = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ""))
  return (line) => stateless.test(line.before + line.text)
}

/**
 * The bytes of a range, redacted and as many as before. What lies around the range is read too, so that a secret is found
 * whatever offsets were asked for.
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

/** How many bytes at the end begin a UTF-8 character that goes on after them. */
function cutCharacterBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if ((byte & 0b1100_0000) === 0b1000_0000) continue
    return characterLength(byte) > back ? back : 0
  }
  return 0
}

/** How many bytes at the beginning continue a UTF-8 character that began before them. */
function countContinuation(bytes: Uint8Array): number {
  const first = bytes.findIndex((byte) => (byte & 0b1100_0000) !== 0b1000_0000)
  return first < 0 ? bytes.length : first
}

function characterLength(firstByte: number): number {
  if (firstByte >= 0xf0 && firstByte <= 0xf4) return 4
  if (firstByte >= 0xe0 && firstByte < 0xf0) return 3
  if (firstByte >= 0xc2 && firstByte < 0xe0) return 2
  return 1
}
