import type { DatabaseSync } from "node:sqlite"
import type { Clock } from "../../base/clock.ts"
import { MeanwhileError } from "../../base/error.ts"
import type { AnswerOf, Operation, OperationName } from "../../task/operation.ts"
import { type Change, createChange } from "./operations/change.ts"
import type { Perform } from "./operations/handlers.ts"
import { isBusy, isDiskFull, toStoreError } from "./sqlite-error.ts"
import { prepare } from "./statement.ts"
import type { TaskCache } from "./tables/task-cache.ts"

type Answer = AnswerOf<OperationName>

interface Writer {
  readonly operations: readonly Operation[]
  readonly resolve: (answers: readonly Answer[]) => void
  readonly reject: (error: unknown) => void
}

type Outcome = { readonly answers: readonly Answer[]; readonly change: Change } | { readonly error: unknown }

export interface GroupCommit {
  commit(operations: readonly Operation[]): Promise<readonly Answer[]>
  /** Refuses what comes from now on and waits for what came before. */
  close(): Promise<void>
}

/** A larger group would hold up the event loop for tens of milliseconds. */
const LARGEST_GROUP = 500
/** Another process holds the lock for about one commit. */
const BUSY_RETRY_MS = 2

/**
 * Writers of the same tick share one durable transaction, each under a savepoint of its own: a refusal takes back that
 * writer alone, and everyone is answered after the commit. While another process holds the lock the group waits without
 * blocking the event loop; real timers do that, whatever clock the engine was given.
 */
export function createGroupCommit(
  database: DatabaseSync,
  path: string,
  clock: Clock,
  perform: Perform,
  cache: TaskCache,
  onCommitted: (changes: readonly Change[]) => void,
): GroupCommit {
  const begin = prepare(database, "BEGIN IMMEDIATE")
  const end = prepare(database, "COMMIT")
  const rollback = prepare(database, "ROLLBACK")
  const savepoint = prepare(database, "SAVEPOINT writer")
  const release = prepare(database, "RELEASE writer")
  const takeBack = prepare(database, "ROLLBACK TO writer")
  let waiting: Writer[] = []
  let isScheduled = false
  let isClosed = false
  let onIdle: (() => void) | undefined

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(flush)
  }

  function flush(): void {
    const group = waiting.slice(0, LARGEST_GROUP)
    try {
      begin.run()
    } catch (error) {
      if (isBusy(error)) return void setTimeout(flush, BUSY_RETRY_MS * (0.5 + Math.random()))
      waiting = waiting.slice(group.length)
      for (const writer of group) writer.reject(toStoreError(error, path))
      return settle()
    }
    waiting = waiting.slice(group.length)
    commitGroup(group)
    settle()
  }

  function settle(): void {
    isScheduled = false
    if (waiting.length > 0) schedule()
    else onIdle?.()
  }

  /** Runs in the transaction that was begun and ends it. */
  function commitGroup(group: readonly Writer[]): void {
    let outcomes: Outcome[]
    try {
      cache.begin()
      outcomes = group.map((writer) => run(writer))
      end.run()
    } catch (error) {
      if (database.isTransaction) rollback.run()
      cache.forgetAll()
      return fail(group, error)
    }
    onCommitted(outcomes.flatMap((outcome) => ("change" in outcome ? [outcome.change] : [])))
    for (const [index, writer] of group.entries()) {
      const outcome = outcomes[index]
      if (outcome && "answers" in outcome) writer.resolve(outcome.answers)
      else writer.reject(outcome?.error)
    }
  }

  /** A store that cannot grow may have room for the others: each tries again alone. */
  function fail(group: readonly Writer[], error: unknown): void {
    if (!isDiskFull(error) || group.length === 1) {
      for (const writer of group) writer.reject(toStoreError(error, path))
      return
    }
    for (const writer of group) {
      try {
        begin.run()
      } catch (beginError) {
        writer.reject(toStoreError(beginError, path))
        continue
      }
      commitGroup([writer])
    }
  }

  /** Throws only what ends the whole transaction. */
  function run({ operations }: Writer): Outcome {
    const change = createChange(clock.now())
    cache.beginWriter()
    savepoint.run()
    try {
      const answers = operations.map((operation) => perform(operation, change))
      release.run()
      return { answers, change }
    } catch (error) {
      if (!database.isTransaction || isDiskFull(error)) throw error
      takeBack.run()
      release.run()
      cache.forgetWriter()
      return { error: toStoreError(error, path) }
    }
  }

  return {
    commit(operations) {
      if (isClosed) return Promise.reject(new MeanwhileError("closed", "The store was closed. Open it again."))
      return new Promise((resolve, reject) => {
        waiting.push({ operations, resolve, reject })
        schedule()
      })
    },
    async close() {
      isClosed = true
      if (isScheduled) await new Promise<void>((resolve) => (onIdle = resolve))
    },
  }
}
