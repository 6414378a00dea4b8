import { MeanwhileError } from "../../../base/error.ts"
import type { Operation } from "../../../task/operation.ts"
import type { CommitOptions } from "../../../task/store.ts"
import { createPatience, nextRetryMs } from "../sqlite/busy-retry.ts"
import type { Change } from "../../rules/change.ts"
import type { Answer, Outcome, Writer } from "../../rules/writer.ts"
import { isBusy, isDiskFull, toStoreError } from "../sqlite/sqlite-error.ts"
import type { RunTransaction } from "./transaction.ts"

export interface GroupCommit {
  commit(operations: readonly Operation[], options?: CommitOptions): Promise<readonly Answer[]>
  /** Refuses what comes from now on and waits for what came before. */
  close(): Promise<void>
}

interface PatientWriter extends Writer {
  readonly waitsForDisk: boolean
}

/** A larger group would hold up the event loop for tens of milliseconds. */
const LARGEST_GROUP = 500

/**
 * Writers of the same tick share one transaction and are answered once it is committed; a refusal fails its writer alone.
 * The group waits for the disk when one of them does. While another process holds the lock, it waits without blocking the
 * event loop.
 */
export function createGroupCommit(
  runTransaction: RunTransaction,
  path: string,
  onCommitted: (changes: readonly Change[]) => void,
  patience = createPatience(),
): GroupCommit {
  let waiting: PatientWriter[] = []
  /** How many of the first in line have to go alone. */
  let aloneCount = 0
  let isScheduled = false
  let isClosed = false
  let onIdle: (() => void) | undefined

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    patience.renew()
    setImmediate(flush)
  }

  function flush(): void {
    const group = waiting.slice(0, aloneCount > 0 ? 1 : LARGEST_GROUP)
    try {
      const waitsForDisk = group.some((writer) => writer.waitsForDisk)
      answer(
        group,
        runTransaction(
          group.map(({ operations }) => operations),
          waitsForDisk,
        ),
      )
    } catch (error) {
      if (isBusy(error) && !patience.isOver()) return void setTimeout(flush, nextRetryMs())
      fail(group, error)
    }
    isScheduled = false
    if (waiting.length > 0) schedule()
    else onIdle?.()
  }

  function answer(group: readonly Writer[], outcomes: readonly Outcome[]): void {
    leave(group)
    onCommitted(outcomes.flatMap((outcome) => (outcome.isRefused ? [] : [outcome.change])))
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.isRefused) group[index]?.reject(toStoreError(outcome.error, path))
      else group[index]?.resolve(outcome.answers)
    }
  }

  function fail(group: readonly Writer[], error: unknown): void {
    if (isDiskFull(error) && group.length > 1) {
      // One of them may be too large and the others not: each tries again by itself.
      aloneCount = group.length
      return
    }
    leave(group)
    for (const writer of group) writer.reject(toStoreError(error, path))
  }

  function leave(group: readonly Writer[]): void {
    waiting = waiting.slice(group.length)
    aloneCount = Math.max(0, aloneCount - group.length)
  }

  return {
    commit(operations, { waitsForDisk = true } = {}) {
      if (isClosed) return Promise.reject(new MeanwhileError("closed", "The store was closed. Open it again."))
      return new Promise((resolve, reject) => {
        waiting.push({ operations, resolve, reject, waitsForDisk })
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
