import type { DatabaseSync } from "node:sqlite"
import type { LogFlush } from "./log-flush.ts"
import { APPLICATION_ID } from "../schema/migrations.ts"
import { prepare } from "../sqlite/statement.ts"

/** Says which commits wait for the disk, and hands it what the others leave in the log. */
export interface DiskWait {
  /** Before a transaction begins. */
  choose(waitsForDisk: boolean): void
  /** Within the transaction, before it is committed, unless all its writers were refused. */
  beforeCommit(): void
  /** The transaction was committed, and not all its writers were refused. */
  committed(): void
  close(): Promise<void>
}

/** The waits of a store in memory, which has no disk. */
export const NO_DISK: DiskWait = { choose() {}, beforeCommit() {}, committed() {}, close: async () => {} }

export function createDiskWait(database: DatabaseSync, synchronous: "full" | "normal", flush: LogFlush): DiskWait {
  return synchronous === "full" ? waitUnlessFollowed(database, flush) : neverWait(flush)
}

/** Many are followed sooner by a commit that waits, and then for both. */
const SOON_MS = 5

/** A commit waits, unless its writers say that they need not. */
function waitUnlessFollowed(database: DatabaseSync, flush: LogFlush): DiskWait {
  const writeAPage = prepare(database, `PRAGMA application_id = ${APPLICATION_ID}`)
  let isWaiting = true
  let isBehind = false
  let timer: NodeJS.Timeout | undefined
  let flushing: Promise<void> | undefined

  async function catchUp(): Promise<void> {
    while (isBehind) {
      isBehind = false
      await flush.handOver()
    }
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
      // SQLite waits only when it writes. A commit that finds all it asks for done already writes nothing, and its answer
      // may rest on what was left.
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

/** About 1,500 pages. */
const COMMITS_BETWEEN = 200

/**
 * No commit waits. Folding the log into the file does, until the disk has all of it, and holds up the event loop
 * meanwhile: the less there is left to wait for, the shorter.
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
