import { appendFile, existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { MeanwhileError, isMeanwhileError, toErrorMessage } from "../../base/error.ts"
import { EMPTY_BOOK, writeBook, type OutputSource, withFileSource } from "./output-files.ts"
import { encodeIdentity, type ProcessIdentity } from "../process/identity.ts"
import { DIRECTORY_MODE, FILE_MODE, FIRST_STREAM, OWNER_FILE, type RunPaths } from "./run-paths.ts"

export interface RunOutputOptions {
  readonly paths: RunPaths
  /** This process. A folder without a task belongs to a living owner. */
  readonly owner: ProcessIdentity
  readonly limitBytes: number
  readonly onGrown: () => void
  /** Asked before each write to the file: a worker that stood still may have lost the run without knowing it. */
  readonly isOurs: () => Promise<boolean>
}

/** The output of one run: in memory until it is worth a file, then in the file that its processes write to as well. */
export function createRunOutput({ paths, owner, limitBytes, onGrown, isOurs }: RunOutputOptions) {
  let memory = createMemoryOutput(limitBytes)
  const appender = createOutputAppender(paths.output, onGrown, isOurs)
  let isKept = false
  let isOnDisk = false
  let isAbandoned = false
  let failure: MeanwhileError | undefined

  function moveToDisk(): void {
    if (isOnDisk || failure) return
    try {
      mkdirSync(paths.directory, { recursive: true, mode: DIRECTORY_MODE })
      // A run with commands has their process files, which name this process as well.
      if (isKept) writeFileSync(join(paths.directory, OWNER_FILE), encodeIdentity(owner), { mode: FILE_MODE })
      const needsBook = memory.firstOffset > 0 || paths.stream > FIRST_STREAM
      if (needsBook && !existsSync(paths.book) && !existsSync(paths.output)) {
        writeBook(paths.book, { ...EMPTY_BOOK, base: memory.firstOffset })
      }
    } catch (error) {
      fail(error)
      return
    }
    isOnDisk = true
    appender.append(memory.read(memory.firstOffset, memory.totalBytes))
    // Frees the memory, up to the limit, that would otherwise be held for as long as the run lasts.
    memory = createMemoryOutput(0)
  }

  /** Records why output is lost: every later flush rejects with the first such error. */
  function fail(error: unknown): void {
    failure ??= toOutputError(error, paths.output)
  }

  async function flush(): Promise<void> {
    if (failure) throw failure
    await appender.flush()
  }

  return {
    appender,
    get failure() {
      return failure
    },
    fail,
    /** Writes nothing more, not even what is queued. */
    abandon(reason: MeanwhileError): void {
      isAbandoned = true
      fail(reason)
      appender.abandon(reason)
    },
    flush,
    write(data: string | Uint8Array): void {
      if (isAbandoned) return
      if (isKept) moveToDisk()
      if (isOnDisk) appender.append(typeof data === "string" ? Buffer.from(data) : Buffer.copyBytesFrom(data))
      else memory.write(typeof data === "string" ? Buffer.from(data) : data)
    },
    /** From now on every byte is kept on disk, those written before included. */
    keep(): void {
      isKept = true
      if (memory.totalBytes > 0) moveToDisk()
    },
    /** Makes the folder and moves output from memory to the file. A promise only when there is something to wait for. */
    prepare(): Promise<void> | undefined {
      moveToDisk()
      return failure || appender.isBusy ? flush() : undefined
    },
    async read<Result>(use: (source: OutputSource) => Promise<Result>): Promise<Result> {
      if (!isOnDisk && memory.totalBytes > 0) {
        // The output may move to the disk while it is being read.
        const held = memory
        const { firstOffset, totalBytes } = held
        return use({ restarts: [], firstOffset, totalBytes, read: async (start, end) => held.read(start, end) })
      }
      // The next flush reports the failed write; earlier output stays readable.
      await appender.flush().catch(() => undefined)
      return withFileSource(paths, use)
    },
  }
}

interface Block {
  readonly offset: number
  readonly bytes: Buffer
  used: number
}

const FIRST_BLOCK_BYTES = 1_024
const LARGEST_BLOCK_BYTES = 64 * 1_024

/** Output of a run before any of it is kept on disk. Past the limit the oldest bytes go. */
function createMemoryOutput(limitBytes: number) {
  let blocks: Block[] = []
  let totalBytes = 0
  let droppedBefore = 0

  function roomyBlock(): Block {
    const last = blocks.at(-1)
    if (last && last.used < last.bytes.length) return last
    const size = last ? Math.min(last.bytes.length * 2, LARGEST_BLOCK_BYTES) : FIRST_BLOCK_BYTES
    const block = { offset: totalBytes, bytes: Buffer.allocUnsafe(size), used: 0 }
    blocks.push(block)
    return block
  }

  function dropOldest(): void {
    if (totalBytes - droppedBefore <= limitBytes) return
    droppedBefore = totalBytes - limitBytes
    const firstKept = blocks.findIndex((block) => block.offset + block.used > droppedBefore)
    // Copying the list for every dropped block would cost its whole length each time.
    if (firstKept > blocks.length / 2) blocks = blocks.slice(firstKept)
  }

  return {
    get firstOffset() {
      return droppedBefore
    },
    get totalBytes() {
      return totalBytes
    },
    write(data: Uint8Array): void {
      for (let position = 0; position < data.byteLength; ) {
        const block = roomyBlock()
        const piece = data.subarray(position, position + block.bytes.length - block.used)
        block.bytes.set(piece, block.used)
        block.used += piece.byteLength
        position += piece.byteLength
        totalBytes += piece.byteLength
      }
      dropOldest()
    },
    /** Absolute offsets, within what is kept. */
    read(start: number, end: number): Buffer {
      const pieces = blocks
        .filter((block) => block.offset < end && block.offset + block.used > start)
        .map((block) =>
          block.bytes.subarray(Math.max(start - block.offset, 0), Math.min(end - block.offset, block.used)),
        )
      return Buffer.concat(pieces)
    },
  }
}

const appendLater = promisify(appendFile)

const LARGEST_WRITE_BYTES = 1_024 * 1_024

export type OutputAppender = ReturnType<typeof createOutputAppender>

/**
 * Appends to the output file in the order of the calls, in the background, holding no descriptor while idle. `onGrown` is
 * called after what was queued has been written.
 */
export function createOutputAppender(
  path: string,
  onGrown: () => void,
  isOurs: () => Promise<boolean> = async () => true,
) {
  let queue: Uint8Array[] = []
  let turn: Promise<void> = Promise.resolve()
  let failure: MeanwhileError | undefined
  let isDraining = false

  async function drain(): Promise<void> {
    try {
      while (queue.length > 0) {
        if (!(await isOurs())) throw new MeanwhileError("stale_claim", "Another worker has the run, with its output.")
        await appendLater(path, takeBatch(), { mode: FILE_MODE })
      }
      onGrown()
    } catch (error) {
      failure ??= toOutputError(error, path)
      queue = []
    } finally {
      isDraining = false
    }
  }

  function takeBatch(): Buffer {
    let bytes = 0
    let count = 0
    for (const data of queue) {
      if (count > 0 && bytes + data.byteLength > LARGEST_WRITE_BYTES) break
      bytes += data.byteLength
      count++
    }
    return Buffer.concat(queue.splice(0, count))
  }

  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = turn.then(work)
    turn = result.then(
      () => undefined,
      () => undefined,
    )
    return result
  }

  return {
    get isBusy() {
      return isDraining || queue.length > 0
    },
    append(data: Uint8Array): void {
      if (failure || data.byteLength === 0) return
      queue.push(data)
      if (isDraining) return
      isDraining = true
      void inTurn(drain)
    },
    /** Resolves when all that was appended is in the file. Rejects after a failed write; then nothing more is written. */
    async flush(): Promise<void> {
      while (queue.length > 0 || isDraining) await turn
      if (failure) throw failure
    },
    /** Drops what has not been written, and all that follows. */
    abandon(reason: MeanwhileError): void {
      failure ??= reason
      queue = []
    },
    /** Runs `work` while nothing is being written. */
    exclusively: inTurn,
  }
}

function toOutputError(error: unknown, path: string): MeanwhileError {
  if (isMeanwhileError(error)) return error
  const code = (error as NodeJS.ErrnoException).code ?? null
  if (code === "ENOSPC" || code === "EDQUOT") {
    const message = `The disk is full: the task's output could not be written to ${path}. Free some space and run it again.`
    return new MeanwhileError("disk_full", message, { path }, { cause: error })
  }
  const message = `The task's output could not be written to ${path} (${toErrorMessage(error)}).`
  return new MeanwhileError("store_unavailable", message, { path, cause: code }, { cause: error })
}
