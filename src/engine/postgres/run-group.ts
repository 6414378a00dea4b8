import type { Clock } from "../../base/clock.ts"
import type { AnswerOf, Operation, OperationName } from "../../task/operation.ts"
import { type Change, createChange } from "../rules/change.ts"
import { createPerform, type Perform } from "../rules/perform.ts"
import type { Database, Query } from "./connection/database.ts"
import { createNaming, toNamedQuery } from "./connection/naming.ts"
import { guessCollisions, guessRows } from "./guess-rows.ts"
import type { JudgeLease } from "./judge-lease.ts"
import { loadRows } from "./load-rows.ts"
import type { TaskChange } from "./queue/queue-changes.ts"
import { addWants, createWants, isWanting, Missing, want, type Wants } from "./working-set/wants.ts"
import { createWorkingSet, type WorkingSet } from "./working-set/working-set.ts"
import { writeRows } from "./write-rows.ts"

export type Answer = AnswerOf<OperationName>

/** What became of one writer: its answers, or the refusal that took back what it had written. */
export type Outcome =
  | { readonly isRefused: false; readonly answers: readonly Answer[]; readonly change: Change }
  | { readonly isRefused: true; readonly error: unknown }

export interface GroupParts {
  readonly database: Database
  /** Default: the time is the store's. */
  readonly clock?: Clock | undefined
  readonly judgeLease: JudgeLease
  /** In the transaction: the queue changes with the tasks. Resolves once all of it is sent. */
  onChanges(query: Query, changes: readonly TaskChange[]): Promise<void>
  /** In the transaction: what other processes hear of once it is committed. */
  notify(query: Query, changes: readonly Change[]): Promise<void>
}

/**
 * Runs all writers in one durable transaction, and answers what became of each. What it throws took back everything: as
 * `isHeldUp` tells, when somebody holds what is wanted for longer than the lock timeout.
 */
export type RunGroup = (
  writers: readonly (readonly Operation[])[],
  lockTimeoutMs: number,
) => Promise<readonly Outcome[]>

/** Enough for what programs do all the time. */
const MOST_NAMES = 60

/** Each time brings something near that was not; operations that never have enough are a mistake in the program. */
const MOST_ROUNDS = 50

export function createRunGroup(parts: GroupParts): RunGroup {
  const { database, clock, judgeLease } = parts
  // Groups are much alike: what the server does for one it has mostly done for another.
  const statementOf = createNaming(MOST_NAMES)

  return async (writers, lockTimeoutMs) => {
    const operations = writers.flat()
    /** Found missing by an attempt that failed: the next one locks it together with the rest. */
    const found = createWants()
    let attempts = 0

    return database.transaction(async (unnamed) => {
      attempts += 1
      const query = toNamedQuery(unnamed, statementOf)
      const set = createWorkingSet(judgeLease)
      const perform = createPerform(set.tables, set.leaseWatch)
      let wants = guessRows(operations)
      if (attempts > 1) addWants(wants, guessCollisions(operations))
      addWants(wants, found)
      const setting = query(`SET LOCAL lock_timeout TO ${lockTimeoutMs}`)
      for (let round = 1; round <= MOST_ROUNDS; round += 1) {
        const [now] = await Promise.all([loadRows(query, wants, set, clock?.now()), setting])
        const { outcomes, missing } = runWriters(writers, set, perform, now)
        if (!isWanting(missing)) {
          await finish(query, set, outcomes)
          return outcomes
        }
        set.undo.takeBackTo(0)
        addWants(found, missing)
        wants = missing
      }
      throw new Error("The rules look for rows that loading does not bring near.")
    })
  }

  /** All is sent before the first answer is back, and the COMMIT behind it, which is refused when any of it fails. */
  async function finish(query: Query, set: WorkingSet, outcomes: readonly Outcome[]): Promise<void> {
    const changes = outcomes.flatMap((outcome) => (outcome.isRefused ? [] : [outcome.change]))
    if (changes.length === 0) return
    writeRows(query, set)
    parts.notify(query, changes).catch(() => {})
    await parts.onChanges(query, toTaskChanges(set))
  }
}

/** A writer that lacks something does not keep the others from finding what they lack: all of it is loaded at once. */
function runWriters(
  writers: readonly (readonly Operation[])[],
  set: WorkingSet,
  perform: Perform,
  now: number,
): { readonly outcomes: readonly Outcome[]; readonly missing: Wants } {
  const missing = createWants()
  const outcomes = writers.map((operations): Outcome => {
    const change = createChange(now)
    const mark = set.undo.mark()
    try {
      const answers = operations.map((operation) => perform(operation, change))
      return { isRefused: false, answers, change }
    } catch (error) {
      set.undo.takeBackTo(mark)
      addWants(missing, error instanceof Missing ? error.wants : doubtsAbout(operations, set))
      return { isRefused: true, error }
    }
  })
  return { outcomes, missing }
}

/** A refused writer may have written something before that is there already: then this is what it has to be refused for. */
function doubtsAbout(operations: readonly Operation[], { tasks, waits, groups }: WorkingSet): Wants {
  const { rows } = guessCollisions(operations)
  const doubts = createWants()
  for (const id of rows.task.values()) if (!tasks.isIdKnown(id)) want(doubts, "task", id)
  for (const id of rows.wait.values()) if (!waits.isKnown(id)) want(doubts, "wait", id)
  for (const id of rows.group.values()) if (!groups.isKnown(id)) want(doubts, "group", id)
  return doubts
}

/** A task of the same id that came after one that was removed is another task. */
function toTaskChanges({ tasks }: WorkingSet): readonly TaskChange[] {
  return tasks.changes().flatMap(({ before, after }): TaskChange[] => {
    const [old, current] = [before?.task, after?.task]
    if (!old || !current || old.number === current.number) return [{ before: old, after: current }]
    return [
      { before: old, after: undefined },
      { before: undefined, after: current },
    ]
  })
}
