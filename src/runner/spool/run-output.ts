import { existsSync, mkdirSync } from "node:fs"
import type { MeanwhileError } from "../../base/error.ts"
import { createMemoryOutput } from "./memory-output.ts"
import { createOutputAppender, type OutputAppender, toOutputError } from "./output-appender.ts"
import { EMPTY_BOOK, writeBook } from "./output-book.ts"
import { type OutputSource, withFileSource } from "./output-source.ts"
import { DIRECTORY_MODE, type RunPaths } from "./run-paths.ts"

/** The output of one run: in memory until it is worth a file, then in the file that its processes write to as well. */
export interface RunOutput {
  readonly appender: OutputAppender
  write(data: string | Uint8Array): void
  /** From now on every byte is kept on disk, those written before included. */
  keep(): void
  /** Makes the folder and the file's beginning; a promise only when there is something to wait for. */
  prepare(): Promise<void> | undefined
  flush(): Promise<void>
  read<Result>(use: (source: OutputSource) => Promise<Result>): Promise<Result>
  /** Refuses further writes: the next flush reports it. */
  fail(error: unknown): void
  /** Nothing more may be written, not even what waits to be. */
  abandon(reason: MeanwhileError): void
  readonly failure: MeanwhileError | undefined
}

export interface RunOutputOptions {
  readonly paths: RunPaths
  readonly limitBytes: number
  readonly onGrown: () => void
}

export function createRunOutput({ paths, limitBytes, onGrown }: RunOutputOptions): RunOutput {
  let memory = createMemoryOutput(limitBytes)
  const appender = createOutputAppender(paths.output, onGrown)
  let isKept = false
  let isOnDisk = false
  let isAbandoned = false
  let failure: MeanwhileError | undefined

  function moveToDisk(): void {
    if (isOnDisk || failure) return
    try {
      mkdirSync(paths.directory, { recursive: true, mode: DIRECTORY_MODE })
      if (memory.firstOffset > 0 && !existsSync(paths.output)) {
        writeBook(paths.book, { ...EMPTY_BOOK, base: memory.firstOffset })
      }
    } catch (error) {
      fail(error)
      return
    }
    isOnDisk = true
    appender.append(memory.read(memory.firstOffset, memory.totalBytes))
    // It may hold as much as the limit allows, and would for as long as the run lasts.
    memory = createMemoryOutput(0)
  }

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
    abandon(reason) {
      isAbandoned = true
      fail(reason)
      appender.abandon(reason)
    },
    flush,
    write(data) {
      if (isAbandoned) return
      if (isKept) moveToDisk()
      if (isOnDisk) appender.append(typeof data === "string" ? Buffer.from(data) : Buffer.from(data))
      else memory.write(typeof data === "string" ? Buffer.from(data) : data)
    },
    keep() {
      isKept = true
      if (memory.totalBytes > 0) moveToDisk()
    },
    prepare() {
      moveToDisk()
      return failure || appender.isBusy ? flush() : undefined
    },
    async read(use) {
      if (!isOnDisk && memory.totalBytes > 0) {
        // It may move to the disk while it is being read.
        const held = memory
        const { firstOffset, totalBytes } = held
        return use({ firstOffset, totalBytes, read: async (start, end) => held.read(start, end) })
      }
      // The next flush reports the failed write; earlier output stays readable.
      await appender.flush().catch(() => undefined)
      return withFileSource(paths, use)
    },
  }
}
