import type { DatabaseSync } from "node:sqlite"
import { type Clock, systemClock } from "../../base/clock.ts"
import type { JsonObject } from "../../base/json.ts"
import { lazily } from "../../base/lazily.ts"
import type { Engine } from "../../task/engine.ts"
import type { Change } from "../rules/change.ts"
import { createLeaseWatch, type IsHolderAlive } from "../rules/lease-watch.ts"
import { createLocalBus } from "../rules/local-bus.ts"
import { createPerform } from "../rules/perform.ts"
import { attach } from "./attachments.ts"
import { createDiskWait, createLogFlush, createLogRoom, NO_DISK, NO_LOG } from "./commit/disk-wait.ts"
import { createGroupCommit, createTransaction } from "./commit/group-commit.ts"
import { createDispatcher } from "./dispatcher.ts"
import { createForeignChanges, NO_FOREIGN_CHANGES } from "./foreign-changes.ts"
import { IN_MEMORY, openDatabase, type OpenOptions } from "./open.ts"
import { createRead } from "./sqlite/busy-retry.ts"
import { toStoreError } from "./sqlite/sqlite-error.ts"
import { createPrepare } from "./sqlite/statement.ts"
import { createStore } from "./store.ts"
import { createRecordCache } from "./tables/record-cache.ts"
import { createTables } from "./tables/tables.ts"

export interface EmbeddedEngineOptions extends OpenOptions {
  readonly clock?: Clock
  /** True if the process that a lease or an attachment describes is alive; undefined if this host cannot tell. */
  readonly isHolderAlive?: IsHolderAlive
  /** Facts about this process for `isHolderAlive` in other processes. */
  readonly holder?: JsonObject
  /** How often other processes' writes are looked for while only this one has the store open. */
  readonly pollAloneMs?: number
  /** The same while another process has the store open, too. */
  readonly pollSharedMs?: number
}

const POLL_ALONE_MS = 250
const POLL_SHARED_MS = 20

/** Store, dispatcher and bus on one SQLite file, which several processes may have open. */
export async function createEmbeddedEngine(options: EmbeddedEngineOptions): Promise<Engine> {
  const database = await openDatabase(options)
  try {
    return await assemble(database, options)
  } catch (error) {
    database.close()
    throw toStoreError(error, options.path)
  }
}

async function assemble(database: DatabaseSync, options: EmbeddedEngineOptions): Promise<Engine> {
  const { path, synchronous = "full", clock = systemClock, isHolderAlive = () => undefined } = options
  const prepare = createPrepare(database)
  const attachments = await attach(prepare, clock, isHolderAlive, options.holder ?? {})
  const tables = createTables(prepare)
  const leaseWatch = createLeaseWatch(clock, isHolderAlive)
  const read = createRead(database, path)
  const countListener = (by: 1 | -1): void => foreignChanges.count(by)
  const bus = createLocalBus(countListener)
  const dispatcher = createDispatcher(prepare, clock, read, countListener)
  const intervals = {
    aloneMs: options.pollAloneMs ?? POLL_ALONE_MS,
    sharedMs: options.pollSharedMs ?? POLL_SHARED_MS,
  }
  const isInMemory = path === IN_MEMORY
  const foreignChanges = isInMemory
    ? NO_FOREIGN_CHANGES
    : createForeignChanges(database, clock, attachments, intervals, () => {
        bus.publishUnknown()
        dispatcher.announce()
      })
  const diskWait = isInMemory ? NO_DISK : createDiskWait(database, synchronous, createLogFlush(path))
  const logRoom = isInMemory ? NO_LOG : createLogRoom(database, path)
  const cache = createRecordCache(database, tables)
  const perform = createPerform(cache.tables, leaseWatch)
  const runTransaction = createTransaction({ database, clock, perform, cache, logRoom, diskWait })
  const groupCommit = createGroupCommit(runTransaction, path, publish)

  function publish(changes: readonly Change[]): void {
    for (const { wakes } of changes) {
      dispatcher.note(wakes)
      bus.publish(wakes)
    }
    if (changes.some(({ hasOffers }) => hasOffers)) dispatcher.announce()
  }

  const close = lazily(async () => {
    await groupCommit.close()
    await diskWait.close()
    logRoom.close()
    foreignChanges.close()
    attachments.detach()
    database.close()
  })

  return {
    name: "embedded",
    store: createStore({ prepare, clock, tables, cache, leaseWatch, groupCommit, read }),
    dispatcher,
    bus,
    now: () => clock.now(),
    close,
    [Symbol.asyncDispose]: close,
  }
}
