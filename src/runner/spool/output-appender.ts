import { close, open, write } from "node:fs"
import { promisify } from "node:util"
import { isMeanwhileError, MeanwhileError, toErrorMessage } from "../../base/error.ts"
import { FILE_MODE } from "./run-paths.ts"

/** Appends to the output file in the order of the calls, in the background, holding no descriptor while idle. */
export interface OutputAppender {
  append(data: Uint8Array): void
  readonly isBusy: boolean
  /** Resolves when all that was appended is in the file. Rejects when it cannot be: then nothing more is written. */
  flush(): Promise<void>
  /** Drops what has not been written, and all that follows. */
  abandon(reason: MeanwhileError): void
  /** Runs `work` while nothing is being written. */
  exclusively<Result>(work: () => Promise<Result>): Promise<Result>
}

const openFile = promisify(open)
const writeFile = promisify(write)
const closeFile = promisify(close)

const LARGEST_WRITE_BYTES = 1_024 * 1_024

/** `onGrown` is called after what was queued has been written. */
export function createOutputAppender(path: string, onGrown: () => void): OutputAppender {
  let queue: Uint8Array[] = []
  let turn: Promise<void> = Promise.resolve()
  let failure: MeanwhileError | undefined
  let isDraining = false

  async function drain(): Promise<void> {
    try {
      const descriptor = await openFile(path, "a", FILE_MODE)
      try {
        while (queue.length > 0) await writeWhole(descriptor, takeBatch())
      } finally {
        await closeFile(descriptor)
      }
      onGrown()
    } catch (error) {
      failure ??= toOutputError(error, path)
      queue = []
    } finally {
      // Bytes appended while the file was being closed met a drain that no longer looked at the queue.
      isDraining = queue.length > 0
      if (isDraining) void inTurn(drain)
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
    append(data) {
      if (failure || data.byteLength === 0) return
      queue.push(data)
      if (isDraining) return
      isDraining = true
      void inTurn(drain)
    },
    async flush() {
      while (queue.length > 0 || isDraining) await turn
      if (failure) throw failure
    },
    abandon(reason) {
      failure ??= reason
      queue = []
    },
    exclusively: inTurn,
  }
}

async function writeWhole(descriptor: number, data: Buffer): Promise<void> {
  for (let written = 0; written < data.byteLength; ) {
    written += (await writeFile(descriptor, data, written)).bytesWritten
  }
}

export function toOutputError(error: unknown, path: string): MeanwhileError {
  if (isMeanwhileError(error)) return error
  const code = (error as NodeJS.ErrnoException).code ?? null
  if (code === "ENOSPC" || code === "EDQUOT") {
    const message = `The disk is full: the task's output could not be written to ${path}. Free some space and run it again.`
    return new MeanwhileError("disk_full", message, { path }, { cause: error })
  }
  const message = `The task's output could not be written to ${path} (${toErrorMessage(error)}).`
  return new MeanwhileError("store_unavailable", message, { path, cause: code }, { cause: error })
}
