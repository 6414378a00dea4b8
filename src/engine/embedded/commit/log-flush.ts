import { closeSync, fdatasync, openSync } from "node:fs"
import { promisify } from "node:util"

/** Hands the write-ahead log to the disk while the event loop goes on. */
export interface LogFlush {
  /**
   * Flushes what the log holds now, and answers whether the disk has it. Never rejects: the next commit that waits for
   * the disk meets the same error.
   */
  handOver(): Promise<boolean>
  /** Contract: nothing is being handed over. */
  close(): void
}

const sync = promisify(fdatasync)

export function createLogFlush(path: string): LogFlush {
  let descriptor: number | undefined
  return {
    async handOver() {
      try {
        descriptor ??= openSync(`${path}-wal`, "r+")
        await sync(descriptor)
        return true
      } catch {
        return false
      }
    },
    close() {
      if (descriptor !== undefined) closeSync(descriptor)
    },
  }
}
