import { isMeanwhileError, MeanwhileError } from "../../../base/error.ts"
import type { CommitOptions } from "../../../task/store.ts"
import type { Operation } from "../../../task/operation.ts"
import type { Answer, Change, Outcome, Writer } from "../../rules/change.ts"
import { closed } from "../connection/patience.ts"
import { isHeldUp, isUnexplained } from "../connection/store-error.ts"
import { isTooLong } from "../schema/storable.ts"
import { createHeldWriters } from "./held-writers.ts"
import type { RunGroup } from "./run-group.ts"

/** Called once a transaction is durable and its writers are answered. */
type OnCommitted = (changes: readonly Change[]) => void

/** A larger group would hold its locks for too long. */
const LARGEST_GROUP = 500
/** Up to this size one group costs less than two. */
const UNDIVIDED_GROUP = 50

/**
 * How long a group waits for a lock. Other processes commit within milliseconds; one that was stopped in the middle
 * holds its locks until the server notices.
 */
const LOCK_TIMEOUT_MS = 500
/** The same while a holder is known to stand still, so that writers who want its rows are set aside quickly. */
const WARY_LOCK_TIMEOUT_MS = 100

/**
 * Writers of one moment share one transaction and are answered once it is durable; writers that come meanwhile are the
 * next group. A refusal fails its writer alone. Writers whose rows another process holds without going on are set
 * aside, so that they hold up nobody else.
 */
export function createGroupCommit(
  runGroup: RunGroup,
  onCommitted: OnCommitted,
  away: () => MeanwhileError | undefined = () => undefined,
) {
  let waiting: PatientWriter[] = []
  let isClosed = false
  let running: Promise<void> | undefined
  const held = createHeldWriters<PatientWriter>({
    attempt: commitGroup,
    refuse: (writer, error) => writer.reject(error),
  })

  async function run(): Promise<void> {
    // Waits for all writers of the same tick.
    await new Promise((resolve) => setImmediate(resolve))
    while (waiting.length > 0) {
      const group = withOnePatience(waiting.slice(0, toGroupSize(waiting.length)))
      waiting = waiting.slice(group.length)
      await commitOrSetAside(group, held.hasAny() ? WARY_LOCK_TIMEOUT_MS : LOCK_TIMEOUT_MS)
    }
    running = undefined
  }

  async function commitOrSetAside(group: readonly PatientWriter[], lockTimeoutMs: number): Promise<void> {
    if ((await commitGroup(group, lockTimeoutMs)) !== undefined) held.add(group)
  }

  /**
   * Answers all writers and returns undefined. If another process holds a row that one of them wants, answers nobody
   * and returns the error.
   */
  async function commitGroup(group: readonly PatientWriter[], lockTimeoutMs: number): Promise<unknown> {
    try {
      const operations = group.map((writer) => writer.operations)
      answerWriters(group, await runGroup(operations, lockTimeoutMs, group[0]?.whenAway), onCommitted)
    } catch (error) {
      if (isHeldUp(error)) return error
      if (group.length > 1 && isOfOne(error)) await commitApart(group, lockTimeoutMs)
      else for (const writer of group) writer.reject(isTooLong(error) ? tooLong(error) : error)
    }
    return undefined
  }

  /**
   * One writer has a value that the store cannot keep, or is too large. Halving the group finds it, and the others go
   * on.
   */
  async function commitApart(group: readonly PatientWriter[], lockTimeoutMs: number): Promise<void> {
    const middle = Math.ceil(group.length / 2)
    await commitOrSetAside(group.slice(0, middle), lockTimeoutMs)
    await commitOrSetAside(group.slice(middle), lockTimeoutMs)
  }

  return {
    commit(operations: readonly Operation[], { whenAway = "wait" }: CommitOptions = {}): Promise<readonly Answer[]> {
      if (isClosed) return Promise.reject(closed())
      if (operations.length === 0) return Promise.resolve([])
      const refusal = whenAway === "refuse" && running ? away() : undefined
      if (refusal) return Promise.reject(refusal)
      return new Promise((resolve, reject) => {
        waiting.push({ operations, resolve, reject, whenAway })
        running ??= run()
      })
    },
    /** Called when the server is found to be away: those that do not wait for it, and were not sent, are refused. */
    refuseImpatient(): void {
      const refusal = away()
      const impatient = refusal ? waiting.filter(({ whenAway }) => whenAway === "refuse") : []
      waiting = waiting.filter((writer) => !impatient.includes(writer))
      for (const writer of impatient) writer.reject(refusal)
    },
    /** Refuses new commits and waits for earlier ones. */
    async close(): Promise<void> {
      isClosed = true
      await running
      await held.allAnswered()
    },
  }
}

interface PatientWriter extends Writer {
  readonly whenAway: "wait" | "refuse"
}

/** The writers at the front of the line that wait alike for a server that is away: a group has one patience. */
function withOnePatience(writers: readonly PatientWriter[]): readonly PatientWriter[] {
  const end = writers.findIndex(({ whenAway }) => whenAway !== writers[0]?.whenAway)
  return end === -1 ? writers : writers.slice(0, end)
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

/** Splits a long line of writers in two: the callers of the first half go on while the server works on the second. */
function toGroupSize(waiting: number): number {
  return Math.min(Math.max(Math.ceil(waiting / 2), UNDIVIDED_GROUP), LARGEST_GROUP)
}

/**
 * True if the error may be due to one writer. Errors of the connection, or of the server as a whole, concern all of
 * them.
 */
function isOfOne(error: unknown): boolean {
  const isRefused = isMeanwhileError(error, "invalid_input") || isMeanwhileError(error, "disk_full")
  return isRefused || isTooLong(error) || isUnexplained(error)
}

function tooLong(cause: unknown): MeanwhileError {
  const text = "This is too much to be written at once. Keep less in one task, message or artifact."
  return new MeanwhileError("invalid_input", text, {}, { cause })
}
