import { closeSync, fdatasync, fstatSync, openSync, writeSync } from "node:fs"
import type { DatabaseSync } from "node:sqlite"
import { promisify } from "node:util"
import { APPLICATION_ID } from "../schema/migrations.ts"
import { createPrepare } from "../sqlite/statement.ts"

/** Flushes the write-ahead log to disk while the event loop goes on. */
export interface LogFlush {
  /**
   * Flushes what the log holds now; true if the disk has it. Never rejects: the next commit that waits for the disk
   * meets the same error.
   */
  handOver(): Promise<boolean>
  /** Contract: no flush is under way. */
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

/** Decides which commits wait for the disk, and flushes the log after commits that did not. */
export interface DiskWait {
  /** Called before a transaction begins. */
  choose(waitsForDisk: boolean): void
  /** Called within the transaction, before it is committed, unless all its writers were refused. */
  beforeCommit(): void
  /** Called once the transaction is committed, unless all its writers were refused. */
  committed(): void
  close(): Promise<void>
}

/** For a store in memory, which has no disk. */
export const NO_DISK: DiskWait = { choose() {}, beforeCommit() {}, committed() {}, close: async () => {} }

export function createDiskWait(database: DatabaseSync, synchronous: "full" | "normal", flush: LogFlush): DiskWait {
  return synchronous === "full" ? waitUnlessFollowed(database, flush) : neverWait(flush)
}

/** Within this time many commits are followed by one that waits for the disk, which then flushes both. */
const SOON_MS = 5

/** A commit waits for the disk, unless its writers say that they need not. */
function waitUnlessFollowed(database: DatabaseSync, flush: LogFlush): DiskWait {
  const writeAPage = createPrepare(database)(`PRAGMA application_id = ${APPLICATION_ID}`)
  let isWaiting = true
  let isBehind = false
  let timer: NodeJS.Timeout | undefined
  let flushing: Promise<void> | undefined

  async function catchUp(): Promise<void> {
    let hasFailed = false
    while (isBehind && !hasFailed) {
      isBehind = false
      hasFailed = !(await flush.handOver())
    }
    // After a failure the next commit that waits for the disk waits for these commits, too.
    isBehind ||= hasFailed
    flushing = undefined
  }

  function begin(): void {
    timer = undefined
    if (isBehind) flushing ??= catchUp()
  }

  function cancel(): void {
    clearTimeout(timer)
    timer = undefined
  }

  return {
    choose(waitsForDisk) {
      if (waitsForDisk === isWaiting) return
      database.exec(`PRAGMA synchronous = ${waitsForDisk ? "FULL" : "NORMAL"}`)
      isWaiting = waitsForDisk
    },
    beforeCommit() {
      // SQLite waits for the disk only if a commit writes. One that finds all it asks for done already writes nothing,
      // but its answer may rest on an earlier commit that the disk does not have yet.
      if (isWaiting && (isBehind || flushing)) writeAPage.run()
    },
    committed() {
      isBehind = !isWaiting
      if (isBehind) timer ??= setTimeout(begin, SOON_MS)
      else cancel()
    },
    async close() {
      cancel()
      begin()
      await flushing
      flush.close()
    },
  }
}

/** Commits between two flushes: about 1,500 pages. */
const COMMITS_BETWEEN = 200

/**
 * No commit waits for the disk. Folding the log into the file does wait, until the disk has all of the log, and blocks
 * the event loop meanwhile. So the log is flushed now and then, which shortens that wait.
 */
function neverWait(flush: LogFlush): DiskWait {
  let count = 0
  let flushing: Promise<void> | undefined

  async function handOver(): Promise<void> {
    count = 0
    await flush.handOver()
    flushing = undefined
  }

  return {
    choose() {},
    beforeCommit() {},
    committed() {
      count += 1
      if (count >= COMMITS_BETWEEN) flushing ??= handOver()
    },
    async close() {
      await flushing
      flush.close()
    },
  }
}

/** Extends the file of the write-ahead log before commits need the room. */
export interface LogRoom {
  /** Contract: called within a transaction that holds the write lock, so that nobody else writes to the log meanwhile. */
  make(): void
  close(): void
}

/** About sixteen commits. */
const MOST_ROOM_BYTES = 256 * 1_024
const FRAME_HEADER_BYTES = 24

/** For a store in memory, which has no log. */
export const NO_LOG: LogRoom = { make() {}, close() {} }

/**
 * A commit that extends the log waits for the disk twice as long as one that only writes into it, because the file's
 * new length must reach the disk, too. The last program that closes the store deletes the log, so most programs would
 * never get past its growth. The room is zeros, which no reader takes for a page, and a crash in between leaves the log
 * as it was. Nothing depends on the room: where it cannot be made, the log grows page by page.
 */
export function createLogRoom(database: DatabaseSync, path: string): LogRoom {
  const longestBytes = readLongestLog(database)
  let descriptor: number | undefined
  let madeBytes = 0

  /** Makes as much room again as the log has bytes, so that a program that writes little leaves little. */
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

/** How long the log is when it is folded into the file. From then on it is written over from its beginning. */
function readLongestLog(database: DatabaseSync): number {
  const prepare = createPrepare(database)
  const pages = prepare<{ wal_autocheckpoint: number }>("PRAGMA wal_autocheckpoint").get()
  const size = prepare<{ page_size: number }>("PRAGMA page_size").get()
  return (pages?.wal_autocheckpoint ?? 0) * ((size?.page_size ?? 0) + FRAME_HEADER_BYTES)
}
