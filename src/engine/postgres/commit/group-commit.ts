import { isMeanwhileError, MeanwhileError } from "../../../base/error.ts"
import type { Operation } from "../../../task/operation.ts"
import type { Answer, Change, Outcome, Writer } from "../../rules/change.ts"
import { closed } from "../connection/patience.ts"
import { isHeldUp, isUnexplained } from "../connection/store-error.ts"
import { isTooLong } from "../schema/storable.ts"
import { createHeldWriters } from "./held-writers.ts"
import type { RunGroup } from "./run-group.ts"

/** After a transaction is durable and its writers are answered. */
type OnCommitted = (changes: readonly Change[]) => void

/** A larger group would hold its locks for long. */
const LARGEST_GROUP = 500
/** Up to here, one group costs less than two. */
const UNDIVIDED_GROUP = 50

/**
 * Other processes commit within milliseconds; one that was stopped in the middle holds its locks until it is noticed.
 */
const LOCK_TIMEOUT_MS = 500
/** The same while it is known that somebody stands still: those who want the same are sorted out quickly. */
const WARY_LOCK_TIMEOUT_MS = 100

/**
 * Writers of one moment share one transaction and are answered once it is durable; those that come while it is under
 * way are the next. A refusal fails its writer alone. Writers whose rows are held by somebody who does not go on wait
 * aside: nobody else is held up by them.
 */
export function createGroupCommit(runGroup: RunGroup, onCommitted: OnCommitted) {
  let waiting: Writer[] = []
  let isClosed = false
  let running: Promise<void> | undefined
  const held = createHeldWriters<Writer>({ attempt: commitGroup, refuse: (writer, error) => writer.reject(error) })

  async function run(): Promise<void> {
    // The writers of the same tick belong together.
    await new Promise((resolve) => setImmediate(resolve))
    while (waiting.length > 0) {
      const group = waiting.slice(0, toGroupSize(waiting.length))
      waiting = waiting.slice(group.length)
      await commitOrSetAside(group, held.hasAny() ? WARY_LOCK_TIMEOUT_MS : LOCK_TIMEOUT_MS)
    }
    running = undefined
  }

  async function commitOrSetAside(group: readonly Writer[], lockTimeoutMs: number): Promise<void> {
    if ((await commitGroup(group, lockTimeoutMs)) !== undefined) held.add(group)
  }

  /** All are answered, unless somebody holds what one of them wants: then what was thrown for it comes back. */
  async function commitGroup(group: readonly Writer[], lockTimeoutMs: number): Promise<unknown> {
    try {
      const operations = group.map((writer) => writer.operations)
      answerWriters(group, await runGroup(operations, lockTimeoutMs), onCommitted)
    } catch (error) {
      if (isHeldUp(error)) return error
      if (group.length > 1 && isOfOne(error)) await commitApart(group, lockTimeoutMs)
      else for (const writer of group) writer.reject(isTooLong(error) ? tooLong(error) : error)
    }
    return undefined
  }

  /** One of them has what the store cannot keep, or is too large: it is looked for by halves, and the others go on. */
  async function commitApart(group: readonly Writer[], lockTimeoutMs: number): Promise<void> {
    const middle = Math.ceil(group.length / 2)
    await commitOrSetAside(group.slice(0, middle), lockTimeoutMs)
    await commitOrSetAside(group.slice(middle), lockTimeoutMs)
  }

  return {
    commit(operations: readonly Operation[]): Promise<readonly Answer[]> {
      if (isClosed) return Promise.reject(closed())
      if (operations.length === 0) return Promise.resolve([])
      return new Promise((resolve, reject) => {
        waiting.push({ operations, resolve, reject })
        running ??= run()
      })
    },
    /** Refuses what comes from now on and waits for what came before. */
    async close(): Promise<void> {
      isClosed = true
      await running
      await held.allAnswered()
    },
  }
}

function answerWriters(writers: readonly Writer[], outcomes: readonly Outcome[], onCommitted: OnCommitted): void {
  const changes: Change[] = []
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.isRefused) writers[index]?.reject(outcome.error)
    else {
      changes.push(outcome.change)
      writers[index]?.resolve(outcome.answers)
    }
  }
  onCommitted(changes)
}

/** Splits a long line of writers in two: the first half is at work again while the server works on the second. */
function toGroupSize(waiting: number): number {
  return Math.min(Math.max(Math.ceil(waiting / 2), UNDIVIDED_GROUP), LARGEST_GROUP)
}

/** Errors that tell of the connection, or of the server as a whole, are those of all writers. */
function isOfOne(error: unknown): boolean {
  const isRefused = isMeanwhileError(error, "invalid_input") || isMeanwhileError(error, "disk_full")
  return isRefused || isTooLong(error) || isUnexplained(error)
}

function tooLong(cause: unknown): MeanwhileError {
  const text = "This is too much to be written at once. Keep less in one task, message or artifact."
  return new MeanwhileError("invalid_input", text, {}, { cause })
}
