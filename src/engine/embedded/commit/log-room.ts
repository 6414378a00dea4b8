import { closeSync, fstatSync, openSync, writeSync } from "node:fs"
import type { DatabaseSync } from "node:sqlite"
import { prepare } from "../sqlite/statement.ts"

/** Makes the file of the write-ahead log longer before it is written to. */
export interface LogRoom {
  /** Contract: within a transaction that holds the write lock. Nobody else writes to the log meanwhile. */
  make(): void
  close(): void
}

/** About sixteen commits. */
const MOST_ROOM_BYTES = 256 * 1_024
const FRAME_HEADER_BYTES = 24

/** For a store in memory, which has no log. */
export const NO_LOG: LogRoom = { make() {}, close() {} }

/**
 * A commit that makes the file longer waits for the disk twice as long as one that only writes into it: the file's new
 * length has to be kept, too. The log is deleted with every last program that closes the store, so that most programs
 * would never come to the end of its growth. The room is zeros, which no reader takes for a page; dying in between
 * leaves a log as it was. Nothing depends on it: where it cannot be made, the log grows page by page.
 */
export function createLogRoom(database: DatabaseSync, path: string): LogRoom {
  const longestBytes = readLongestLog(database)
  let descriptor: number | undefined
  let madeBytes = 0

  /** As much again as there is: a program that writes little leaves little. */
  function makeMore(): void {
    descriptor ??= openSync(`${path}-wal`, "r+")
    const { size } = fstatSync(descriptor)
    if (size === madeBytes) return
    const roomBytes = Math.min(size, MOST_ROOM_BYTES)
    if (roomBytes > 0) writeSync(descriptor, new Uint8Array(roomBytes), 0, roomBytes, size)
    madeBytes = size + roomBytes
  }

  return {
    make() {
      if (madeBytes >= longestBytes) return
      try {
        makeMore()
      } catch {
        // The next commit reports the error of the disk.
        madeBytes = longestBytes
      }
    },
    close() {
      if (descriptor !== undefined) closeSync(descriptor)
    },
  }
}

/** How long the log is when it is folded into the file: from then on it is written over. */
function readLongestLog(database: DatabaseSync): number {
  const pages = prepare<{ wal_autocheckpoint: number }>(database, "PRAGMA wal_autocheckpoint").get()
  const size = prepare<{ page_size: number }>(database, "PRAGMA page_size").get()
  return (pages?.wal_autocheckpoint ?? 0) * ((size?.page_size ?? 0) + FRAME_HEADER_BYTES)
}
