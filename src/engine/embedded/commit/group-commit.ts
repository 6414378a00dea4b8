import { MeanwhileError } from "../../../base/error.ts"
import type { Operation } from "../../../task/operation.ts"
import type { CommitOptions } from "../../../task/store.ts"
import { type Answer, type Change, createChange, type Outcome, type Writer } from "../../rules/change.ts"
import { isDiskFull, isWriteRefused, toStoreError } from "../sqlite/sqlite-error.ts"
import type { DatabaseSync } from "node:sqlite"
import type { Clock } from "../../../base/clock.ts"
import type { Perform } from "../../rules/perform.ts"
import type { DiskWait, LogRoom } from "./disk-wait.ts"
import type { WriteRefusals } from "./write-refusals.ts"
import { createPrepare } from "../sqlite/statement.ts"
import type { RecordCache } from "../tables/record-cache.ts"

export interface GroupCommit {
  commit(operations: readonly Operation[], options?: CommitOptions): Promise<readonly Answer[]>
  /** Refuses new commits and waits for earlier ones. */
  close(): Promise<void>
}

interface WaitingWriter extends Writer {
  readonly waitsForDisk: boolean
  readonly isPatient: boolean
  /** By the monotonic clock of the process. */
  readonly sinceMs: number
}

/** A larger group would hold up the event loop for tens of milliseconds. */
const LARGEST_GROUP = 500

/**
 * Writers of the same tick share one transaction and are answered once it is committed; a refusal fails its writer
 * alone. The group waits for the disk if one of its writers does. While the store takes no writes the whole line waits,
 * without blocking the event loop: what is committed in the end is committed in the order of the calls.
 */
export function createGroupCommit(
  runTransaction: RunTransaction,
  path: string,
  onCommitted: (changes: readonly Change[]) => void,
  refusals: WriteRefusals,
): GroupCommit {
  let waiting: WaitingWriter[] = []
  /** How many writers at the front of the line have to be committed each by itself. */
  let aloneCount = 0
  let isScheduled = false
  let isClosed = false
  let onIdle: (() => void) | undefined

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(flush)
  }

  function flush(): void {
    const group = waiting.slice(0, aloneCount > 0 ? 1 : LARGEST_GROUP)
    try {
      const waitsForDisk = group.some((writer) => writer.waitsForDisk)
      const outcomes = runTransaction(
        group.map(({ operations }) => operations),
        waitsForDisk,
      )
      refusals.accepted()
      answer(group, outcomes)
    } catch (error) {
      const pauseMs = fail(group, error)
      if (pauseMs !== undefined) return void setTimeout(flush, pauseMs)
    }
    isScheduled = false
    if (waiting.length > 0) schedule()
    else onIdle?.()
  }

  function answer(group: readonly WaitingWriter[], outcomes: readonly Outcome[]): void {
    leave(group.length)
    onCommitted(outcomes.flatMap((outcome) => (outcome.isRefused ? [] : [outcome.change])))
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.isRefused) group[index]?.reject(toStoreError(outcome.error, path))
      else group[index]?.resolve(outcome.answers)
    }
  }

  /** How long to wait before the next try; undefined: the line goes on at once. */
  function fail(group: readonly WaitingWriter[], error: unknown): number | undefined {
    const [first] = group
    if (!first) return undefined
    if (isDiskFull(error) && group.length > 1) {
      // One writer may be too large and the others not: each tries again by itself.
      aloneCount = group.length
      return undefined
    }
    const next = refusals.refused(error, first.sinceMs, isClosed)
    if ("refusal" in next) {
      leave(group.length)
      for (const writer of group) writer.reject(next.refusal)
      return undefined
    }
    refuseImpatient()
    return waiting.length > 0 ? next.pauseMs : undefined
  }

  function refuseImpatient(): void {
    const impatient = waiting.filter(({ isPatient }) => !isPatient)
    // Asked for only where somebody hears it: it names who holds a lock, which takes a look at the system.
    const refusal = impatient.length > 0 ? refusals.away() : undefined
    if (!refusal) return
    waiting = waiting.filter(({ isPatient }) => isPatient)
    aloneCount = Math.min(aloneCount, waiting.length)
    for (const writer of impatient) writer.reject(refusal)
  }

  function leave(count: number): void {
    waiting = waiting.slice(count)
    aloneCount = Math.max(0, aloneCount - count)
  }

  return {
    commit(operations, { waitsForDisk = true, whenAway = "wait" } = {}) {
      if (isClosed) return Promise.reject(new MeanwhileError("closed", "The store was closed. Open it again."))
      return new Promise((resolve, reject) => {
        const isPatient = whenAway === "wait"
        waiting.push({ operations, resolve, reject, waitsForDisk, isPatient, sinceMs: performance.now() })
        schedule()
      })
    },
    async close() {
      isClosed = true
      if (!isScheduled) return
      await new Promise<void>((resolve) => {
        onIdle = resolve
      })
    },
  }
}

interface TransactionParts {
  readonly database: DatabaseSync
  readonly clock: Clock
  readonly perform: Perform
  readonly cache: RecordCache
  readonly logRoom: LogRoom
  readonly diskWait: DiskWait
  /** Both throw if the file is not the store any more: `requireKnown` only what is known already. */
  readonly presence: { require(): void; requireKnown(): void }
}

/** Runs all writers in one transaction. If it throws, everything was rolled back and may be tried again. */
export type RunTransaction = (writers: readonly (readonly Operation[])[], waitsForDisk: boolean) => readonly Outcome[]

export function createTransaction(parts: TransactionParts): RunTransaction {
  const { database, clock, perform, cache, logRoom, diskWait, presence } = parts
  const prepare = createPrepare(database)
  const begin = prepare("BEGIN IMMEDIATE")
  const commit = prepare("COMMIT")
  const rollback = prepare("ROLLBACK")
  const savepoint = prepare("SAVEPOINT writer")
  const release = prepare("RELEASE writer")
  const takeBack = prepare("ROLLBACK TO writer")

  /** True if the last group had a refusal: the next one is likely to have one too. */
  let isCareful = false

  function runWriter(operations: readonly Operation[]): Outcome {
    const change = createChange(clock.now())
    cache.beginWriter()
    const answers = operations.map((operation) => perform(operation, change))
    return { isRefused: false, answers, change }
  }

  /**
   * Runs a writer under a savepoint, so that a refusal rolls back that writer alone. Throws only what ends the whole
   * transaction.
   */
  function runGuarded(operations: readonly Operation[]): Outcome {
    savepoint.run()
    try {
      const outcome = runWriter(operations)
      cache.save()
      release.run()
      return outcome
    } catch (error) {
      if (!database.isTransaction || isWriteRefused(error)) throw error
      takeBack.run()
      release.run()
      cache.forgetWriter()
      return { isRefused: true, error }
    }
  }

  /**
   * Runs writers without savepoints, each of which would cost a copy of every page that is written. Undefined if one of
   * several was refused.
   */
  function runTogether(writers: readonly (readonly Operation[])[]): readonly Outcome[] | undefined {
    try {
      const outcomes = writers.map(runWriter)
      cache.save()
      return outcomes
    } catch (error) {
      if (!database.isTransaction || isWriteRefused(error)) throw error
      rollback.run()
      if (writers.length === 1) {
        cache.forgetWriter()
        return [{ isRefused: true, error }]
      }
      cache.forgetAll()
      return undefined
    }
  }

  function runApart(writers: readonly (readonly Operation[])[]): readonly Outcome[] {
    if (!database.isTransaction) begin.run()
    cache.begin()
    const outcomes = writers.map(runGuarded)
    isCareful = outcomes.some(({ isRefused }) => isRefused)
    return outcomes
  }

  return (writers, waitsForDisk) => {
    presence.requireKnown()
    diskWait.choose(waitsForDisk)
    begin.run()
    try {
      logRoom.make()
      cache.begin()
      const isAlone = writers.length === 1
      const outcomes = (isAlone || !isCareful ? runTogether(writers) : undefined) ?? runApart(writers)
      // A transaction whose writers were all refused leaves nothing in the log, and does not wait for what is there.
      const isTaken = outcomes.some(({ isRefused }) => !isRefused)
      if (isTaken) diskWait.beforeCommit()
      if (database.isTransaction) commit.run()
      if (isTaken) diskWait.committed()
      // After the commit, so that no writer is answered whose file was deleted before. A commit that need not wait for the
      // disk is followed by one that does, which looks.
      if (waitsForDisk) presence.require()
      return outcomes
    } catch (error) {
      if (database.isTransaction) rollback.run()
      cache.forgetAll()
      throw error
    }
  }
}
