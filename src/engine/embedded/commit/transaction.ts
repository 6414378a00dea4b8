import type { DatabaseSync } from "node:sqlite"
import type { Clock } from "../../../base/clock.ts"
import type { Operation } from "../../../task/operation.ts"
import { createChange } from "../../rules/change.ts"
import type { Perform } from "../../rules/perform.ts"
import type { Outcome } from "../../rules/writer.ts"
import type { DiskWait, LogRoom } from "./disk-wait.ts"
import { isDiskFull } from "../sqlite/sqlite-error.ts"
import { prepare } from "../sqlite/statement.ts"
import type { RecordCache } from "../tables/record-cache.ts"

export interface TransactionParts {
  readonly database: DatabaseSync
  readonly clock: Clock
  readonly perform: Perform
  readonly cache: RecordCache
  readonly logRoom: LogRoom
  readonly diskWait: DiskWait
}

/** Runs all writers in one transaction. What it throws took back everything, and may be tried again. */
export type RunTransaction = (writers: readonly (readonly Operation[])[], waitsForDisk: boolean) => readonly Outcome[]

export function createTransaction(parts: TransactionParts): RunTransaction {
  const { database, clock, perform, cache, logRoom, diskWait } = parts
  const begin = prepare(database, "BEGIN IMMEDIATE")
  const commit = prepare(database, "COMMIT")
  const rollback = prepare(database, "ROLLBACK")
  const savepoint = prepare(database, "SAVEPOINT writer")
  const release = prepare(database, "RELEASE writer")
  const takeBack = prepare(database, "ROLLBACK TO writer")

  /** True if the last group had a refusal: the next one is likely to have one too. */
  let isCareful = false

  function runWriter(operations: readonly Operation[]): Outcome {
    const change = createChange(clock.now())
    cache.beginWriter()
    const answers = operations.map((operation) => perform(operation, change))
    return { isRefused: false, answers, change }
  }

  /** A refusal takes back what its own writer has written. Throws only what ends the whole transaction. */
  function runGuarded(operations: readonly Operation[]): Outcome {
    savepoint.run()
    try {
      const outcome = runWriter(operations)
      cache.save()
      release.run()
      return outcome
    } catch (error) {
      if (!database.isTransaction || isDiskFull(error)) throw error
      takeBack.run()
      release.run()
      cache.forgetWriter()
      return { isRefused: true, error }
    }
  }

  /** Without savepoints, of which each costs a copy of every page that is written. Undefined when one was refused. */
  function runTogether(writers: readonly (readonly Operation[])[]): readonly Outcome[] | undefined {
    try {
      const outcomes = writers.map(runWriter)
      cache.save()
      return outcomes
    } catch (error) {
      if (!database.isTransaction || isDiskFull(error)) throw error
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
    diskWait.choose(waitsForDisk)
    begin.run()
    try {
      logRoom.make()
      cache.begin()
      const isAlone = writers.length === 1
      const outcomes = (isAlone || !isCareful ? runTogether(writers) : undefined) ?? runApart(writers)
      // One whose writers were all refused leaves nothing in the log, and does not wait for what is there.
      const isTaken = outcomes.some(({ isRefused }) => !isRefused)
      if (isTaken) diskWait.beforeCommit()
      if (database.isTransaction) commit.run()
      if (isTaken) diskWait.committed()
      return outcomes
    } catch (error) {
      if (database.isTransaction) rollback.run()
      cache.forgetAll()
      throw error
    }
  }
}
