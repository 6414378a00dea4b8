import type { Clock } from "../../../base/clock.ts"
import type { Operation } from "../../../task/operation.ts"
import type { Change } from "../../rules/change.ts"
import { createPerform } from "../../rules/perform.ts"
import type { Outcome } from "../../rules/writer.ts"
import type { Database, Query } from "../connection/database.ts"
import { createNaming, toNamedQuery } from "../connection/naming.ts"
import type { ServerTime } from "../connection/server-time.ts"
import type { ChangeQueue, TaskChange } from "../queue/change-queue.ts"
import type { JudgeLease } from "../read/judge-lease.ts"
import { guessCollisions, guessRows } from "./guess-rows.ts"
import { loadRows } from "./load/load-rows.ts"
import { addWants, createWants, isWanting, type Wants } from "./working-set/wants.ts"
import { createWorkingSet, type WorkingSet } from "./working-set/working-set.ts"
import type { Built } from "./write/bulk.ts"
import { sendRows } from "./write/write-rows.ts"
import { runWriters } from "./run-writers.ts"

/**
 * Runs all writers in one durable transaction, and answers with the outcome of each. When it throws, everything was rolled
 * back; `isHeldUp` tells whether somebody held a wanted row for longer than the lock timeout.
 */
export type RunGroup = (
  writers: readonly (readonly Operation[])[],
  lockTimeoutMs: number,
) => Promise<readonly Outcome[]>

export interface GroupParts {
  readonly database: Database
  readonly judgeLease: JudgeLease
  /** Default: the time is the store's. */
  readonly clock?: Clock | undefined
  /** Learns the server's time from what the server answers. */
  readonly time?: Pick<ServerTime, "ask">
  /** In the transaction: the queue changes with the tasks. */
  readonly changeQueue: ChangeQueue
  /** In the transaction: tells other processes once it is committed. */
  notify(query: Query, changes: readonly Change[]): Promise<void>
}

/** Groups are much alike: these are enough for the statements that programs repeat all the time. */
const MOST_NAMES = 60
/** Each round loads a row that was missing; operations that need more rounds are a mistake in the program. */
const MOST_ROUNDS = 50

export function createRunGroup(parts: GroupParts): RunGroup {
  const { database, judgeLease, clock, time, changeQueue, notify } = parts
  const statementOf = createNaming(MOST_NAMES)

  /**
   * The rows and the notification are sent before any of them is answered, and the COMMIT behind them, which fails when one
   * of them does. Only changes of the queue are waited for: pg-boss sends a statement when the one before is answered.
   */
  async function write(
    query: Query,
    set: WorkingSet,
    outcomes: readonly Outcome[],
    statements: readonly Built[],
  ): Promise<void> {
    const changes = outcomes.flatMap((outcome) => (outcome.isRefused ? [] : [outcome.change]))
    if (changes.length === 0) return
    sendRows(query, statements)
    notify(query, changes).catch(() => {})
    await changeQueue(query, toTaskChanges(set))
  }

  /** Loads rows and runs the rules, until the rules have found every row that they look for. */
  async function perform(
    query: Query,
    writers: readonly (readonly Operation[])[],
    wants: Wants,
    onMissing: (missing: Wants) => void,
  ) {
    const set = createWorkingSet(judgeLease)
    const rules = createPerform(set.tables, set.leaseWatch)
    let lacking = wants
    for (let round = 1; round <= MOST_ROUNDS; round += 1) {
      const hear = time?.ask()
      const now = await loadRows(query, lacking, set, clock?.now())
      hear?.(now)
      const { outcomes, missing, statements } = runWriters(writers, set, rules, now)
      if (!isWanting(missing)) {
        await write(query, set, outcomes, statements)
        return outcomes
      }
      set.undo.takeBackTo(0)
      lacking = missing
      onMissing(missing)
    }
    throw new Error("The rules look for rows that loading does not bring near.")
  }

  return async (writers, lockTimeoutMs) => {
    const operations = writers.flat()
    /** Rows that an attempt which failed found missing: the next attempt locks them together with the rest. */
    const found = createWants()
    let attempts = 0

    const work = (unnamed: Query) => {
      attempts += 1
      const query = toNamedQuery(unnamed, statementOf)
      const wants = guessRows(operations)
      if (attempts > 1) addWants(wants, guessCollisions(operations))
      addWants(wants, found)
      return perform(query, writers, wants, (missing) => addWants(found, missing))
    }
    return database.transaction(work, { lockTimeoutMs })
  }
}

/** A task that has the id of a removed one is another task. */
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
