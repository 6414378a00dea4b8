import { closeSync, fdatasync, openSync } from "node:fs"
import { promisify } from "node:util"

/** Hands the write-ahead log to the disk while the event loop goes on. */
export interface LogFlush {
  /** A transaction was committed. */
  committed(): void
  close(): Promise<void>
}

const handOver = promisify(fdatasync)

/** About 1,500 pages. */
const COMMITS_BETWEEN = 200

/**
 * For a store whose commits do not wait for the disk. Folding the log into the file waits until the disk has all of it,
 * and holds up the event loop meanwhile: the less there is left to wait for, the shorter. Nothing depends on it.
 */
export function createLogFlush(path: string): LogFlush {
  let count = 0
  let descriptor: number | undefined
  let flushing: Promise<void> | undefined

  async function flush(): Promise<void> {
    try {
      descriptor ??= openSync(`${path}-wal`, "r+")
      await handOver(descriptor)
    } catch {
      // Whoever folds the log in is told what is wrong with the disk.
    }
  }

  return {
    committed() {
      count += 1
      if (count < COMMITS_BETWEEN || flushing) return
      count = 0
      flushing = flush().finally(() => (flushing = undefined))
    },
    async close() {
      await flushing
      if (descriptor !== undefined) closeSync(descriptor)
    },
  }
}
