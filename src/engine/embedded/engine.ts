import type { DatabaseSync } from "node:sqlite"
import { type Clock, systemClock } from "../../base/clock.ts"
import type { JsonObject } from "../../base/json.ts"
import { lazily } from "../../base/lazily.ts"
import type { Engine } from "../../task/engine.ts"
import type { Change } from "../rules/change.ts"
import { createLeaseWatch, type IsHolderAlive } from "../rules/lease-watch.ts"
import { createLocalBus } from "../rules/local-bus.ts"
import { describeLockHolders } from "./sqlite/lock-holders.ts"
import { createPerform } from "../rules/perform.ts"
import { attach, type Attachments } from "./attachments.ts"
import { createDiskWait, createLogFlush, createLogRoom, NO_DISK, NO_LOG } from "./commit/disk-wait.ts"
import { createGroupCommit, createTransaction } from "./commit/group-commit.ts"
import { createWriteRefusals, type WriteRefusalsOptions } from "./commit/write-refusals.ts"
import { createDispatcher } from "./dispatcher.ts"
import { createFilePresence, type FilePresence, NO_FILE } from "./file-presence.ts"
import { createForeignChanges, NO_FOREIGN_CHANGES } from "./foreign-changes.ts"
import { IN_MEMORY, openDatabase, type OpenOptions } from "./open.ts"
import { createRead } from "./sqlite/busy-retry.ts"
import { toStoreError } from "./sqlite/sqlite-error.ts"
import { createPrepare } from "./sqlite/statement.ts"
import { createStore } from "./store.ts"
import { createRecordCache } from "./tables/record-cache.ts"
import { createTables } from "./tables/tables.ts"

export interface EmbeddedEngineOptions extends OpenOptions, WriteRefusalsOptions {
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

const WAITING = "Waiting for it, up to 30 s."
const POLL_ALONE_MS = 250
const POLL_SHARED_MS = 20

/** Store, dispatcher and bus on one SQLite file, which several processes may have open. */
export async function createEmbeddedEngine(options: EmbeddedEngineOptions): Promise<Engine> {
  const { path, tell = () => {} } = options
  const onLocked = (): void => tell(`The store ${path} is locked${describeLockHolders(path)} ${WAITING}`)
  const database = await openDatabase(options, onLocked)
  try {
    return await assemble(database, options, onLocked)
  } catch (error) {
    database.close()
    throw toStoreError(error, path)
  }
}

function watchFile(
  database: DatabaseSync,
  attachments: Attachments,
  { path, tell = () => {}, onGone = () => {} }: EmbeddedEngineOptions,
): FilePresence {
  const tellGone = ({ message }: Error): void => {
    tell(message)
    onGone()
  }
  return createFilePresence({ database, path, attachments, onGone: tellGone })
}

async function assemble(database: DatabaseSync, options: EmbeddedEngineOptions, onLocked: () => void): Promise<Engine> {
  const { path, synchronous = "full", clock = systemClock, isHolderAlive = () => undefined } = options
  const prepare = createPrepare(database)
  const attachments = await attach(prepare, clock, { isHolderAlive, holder: options.holder ?? {}, onLocked })
  const isInMemory = path === IN_MEMORY
  const presence = isInMemory ? NO_FILE : watchFile(database, attachments, options)
  const read = createRead(database, path, presence.requireKnown)
  const tables = createTables(prepare)
  const leaseWatch = createLeaseWatch(clock, isHolderAlive)
  const countListener = (by: 1 | -1): void => foreignChanges.count(by)
  const bus = createLocalBus(countListener)
  const dispatcher = createDispatcher(prepare, clock, read, countListener)
  const intervals = {
    aloneMs: options.pollAloneMs ?? POLL_ALONE_MS,
    sharedMs: options.pollSharedMs ?? POLL_SHARED_MS,
  }
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
  const runTransaction = createTransaction({ database, clock, perform, cache, logRoom, diskWait, presence })
  const refusals = createWriteRefusals(path, options)
  const groupCommit = createGroupCommit(runTransaction, path, publish, refusals)

  function publish(changes: readonly Change[]): void {
    for (const { wakes } of changes) {
      dispatcher.note(wakes)
      bus.publish(wakes)
    }
    if (changes.some(({ hasOffers }) => hasOffers)) dispatcher.announce()
  }

  const close = lazily(async () => {
    await groupCommit.close()
    refusals.close()
    presence.close()
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
