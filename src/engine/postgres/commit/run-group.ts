import type { Clock } from "../../../base/clock.ts"
import type { Operation } from "../../../task/operation.ts"
import { type Change, createChange, type Outcome } from "../../rules/change.ts"
import { createPerform, type Perform } from "../../rules/perform.ts"
import type { Database, Query, TransactionOptions } from "../connection/database.ts"
import { createNaming, toNamedQuery } from "../connection/connection.ts"
import type { ServerTime } from "../connection/server-time.ts"
import type { ChangeQueue, TaskChange } from "../queue/change-queue.ts"
import type { JudgeLease } from "../read/judge-lease.ts"
import { guessCollisions, guessRows } from "./guess-rows.ts"
import { loadRows } from "./load/load-rows.ts"
import { addWants, createWants, isWanting, type Wants, Missing, want } from "./working-set/wants.ts"
import { createWorkingSet, type WorkingSet } from "./working-set/working-set.ts"
import type { Built } from "./write/bulk.ts"
import { sortTasks } from "./write/write-tasks.ts"
import { sendRows, buildRows } from "./write/write-rows.ts"
import { isMeanwhileError, MeanwhileError, toErrorMessage } from "../../../base/error.ts"
import { isTooLong } from "../schema/storable.ts"

/**
 * Runs all writers in one durable transaction, and returns the outcome of each. If it throws, everything was rolled
 * back; `isHeldUp` tells whether another process held a wanted row for longer than the lock timeout.
 */
export type RunGroup = (
  writers: Writers,
  lockTimeoutMs: number,
  whenAway?: TransactionOptions["whenAway"],
) => Promise<readonly Outcome[]>

/** The operations of each writer. */
type Writers = readonly (readonly Operation[])[]

export interface GroupParts {
  readonly database: Database
  readonly judgeLease: JudgeLease
  /** Default: the store's time. */
  readonly clock?: Clock | undefined
  /** Learns the server's time from what the server answers. */
  readonly time?: Pick<ServerTime, "ask">
  /** Changes the queue with the tasks, in the same transaction. */
  readonly changeQueue: ChangeQueue
  /** Notifies other processes, in the same transaction: they hear of it once it is committed. */
  notify(query: Query, changes: readonly Change[]): Promise<void>
}

/**
 * How many statements get names. Groups are much alike, so these are enough for the statements that programs repeat all
 * the time.
 */
const MOST_NAMES = 60
/** Each round loads rows that were missing. Operations that need more rounds are a mistake in the program. */
const MOST_ROUNDS = 50

export function createRunGroup(parts: GroupParts): RunGroup {
  const { database, judgeLease, clock, time, changeQueue, notify } = parts
  const statementOf = createNaming(MOST_NAMES)

  /**
   * Sends the rows and the notification without waiting for their answers. The COMMIT is sent right behind them, and
   * fails if one of them does. Only changes of the queue are waited for, because pg-boss sends a statement when the one
   * before is answered. So they go first, and are answered while the server is still busy with the rows. That saves a
   * round trip in which the server has nothing to do.
   */
  async function write(
    query: Query,
    set: WorkingSet,
    outcomes: readonly Outcome[],
    statements: readonly Built[],
  ): Promise<void> {
    const changes = outcomes.flatMap((outcome) => (outcome.isRefused ? [] : [outcome.change]))
    if (changes.length === 0) return
    const changingQueue = changeQueue(query, toTaskChanges(set))
    changingQueue.catch(() => {})
    // By the next tick pg-boss has sent its first statement.
    await new Promise<void>((resolve) => process.nextTick(resolve))
    sendRows(query, statements)
    notify(query, changes).catch(() => {})
    await changingQueue
  }

  /**
   * Loads rows and runs the rules, until the rules find every row that they look for. Rows that were missing are added
   * to `found`. A statement that has waited for a lock does not see the rows that the holder of the lock has made. So
   * before a writer is refused for a missing row, everything is loaded once more under the locks, and again if the
   * rules then look for further rows.
   */
  async function perform(
    query: Query,
    writers: Writers,
    wants: Wants,
    found: Wants,
    isLoadedAnew = false,
  ): Promise<readonly Outcome[]> {
    const set = createWorkingSet(judgeLease)
    const rules = createPerform(set.tables, set.leaseWatch)
    let lacking = wants
    for (let round = 1; round <= MOST_ROUNDS; round += 1) {
      const hear = time?.ask()
      const now = await loadRows(query, lacking, set, clock?.now())
      hear?.(now)
      const { outcomes, missing, statements } = runWriters(writers, set, rules, now)
      if (!isWanting(missing)) {
        if (outcomes.some(lacksRow) && !(isLoadedAnew && round === 1)) {
          addWants(wants, found)
          return perform(query, writers, wants, found, true)
        }
        await write(query, set, outcomes, statements)
        return outcomes
      }
      set.undo.undoTo(0)
      lacking = missing
      addWants(found, missing)
    }
    throw new Error(`The rules still miss rows after loading them ${MOST_ROUNDS} times.`)
  }

  return async (writers, lockTimeoutMs, whenAway = "wait") => {
    const operations = writers.flat()
    /** Rows that a failed attempt found missing. The next attempt locks them together with the rest. */
    const found = createWants()
    let attempts = 0

    const work = (query: Query) => {
      attempts += 1
      const wants = guessRows(operations)
      if (attempts > 1) addWants(wants, guessCollisions(operations))
      addWants(wants, found)
      return perform(toNamedQuery(query, statementOf), writers, wants, found)
    }
    return database.transaction(work, { lockTimeoutMs, whenAway })
  }
}

function lacksRow(outcome: Outcome): boolean {
  return outcome.isRefused && isMeanwhileError(outcome.error, "not_found")
}

function toTaskChanges({ tasks }: WorkingSet): readonly TaskChange[] {
  const { gone, made, changed } = sortTasks(tasks)
  return [
    ...gone.map(({ task }) => ({ before: task, after: undefined })),
    ...made.map(({ task }) => ({ before: undefined, after: task })),
    ...changed.map(({ before, after }) => ({ before: before.task, after: after.task })),
  ]
}

interface WritersRun {
  readonly outcomes: readonly Outcome[]
  readonly missing: Wants
  /** Sent only if nothing is missing. */
  readonly statements: readonly Built[]
}

/** Runs the rules for all writers. A writer whose values cannot be stored is refused, and the others go on without it. */
function runWriters(writers: Writers, set: WorkingSet, perform: Perform, now: number): WritersRun {
  const unstorable = new Map<number, unknown>()
  const run = (count: number) => {
    set.undo.undoTo(0)
    const ran = runRules(writers.slice(0, count), set, perform, now, unstorable)
    return { ...ran, ...(isWanting(ran.missing) ? { statements: [] } : tryToBuild(set)) }
  }
  for (;;) {
    const all = run(writers.length)
    if (!("error" in all)) return all
    let [good, bad, error] = [0, writers.length, all.error]
    // Halves what lies between: rows can be built for the first `good` writers, and not for the first `bad` ones.
    while (bad - good > 1) {
      const middle = Math.floor((good + bad) / 2)
      const part = run(middle)
      if ("error" in part) [bad, error] = [middle, part.error]
      else good = middle
    }
    unstorable.set(good, error)
  }
}

/** Throws if the rows are too long together. That is the mistake of no single writer: the group is divided. */
function tryToBuild(set: WorkingSet): { readonly statements: readonly Built[] } | { readonly error: unknown } {
  try {
    return { statements: buildRows(set) }
  } catch (error) {
    if (isTooLong(error)) throw error
    return { error: isMeanwhileError(error) ? error : toUnstorable(error) }
  }
}

function toUnstorable(cause: unknown): MeanwhileError {
  return new MeanwhileError("invalid_input", `This cannot be stored (${toErrorMessage(cause)}).`, {}, { cause })
}

/** Runs every writer, even if one before it lacks a row, so that all missing rows are loaded at once. */
function runRules(
  writers: Writers,
  set: WorkingSet,
  perform: Perform,
  now: number,
  unstorable: ReadonlyMap<number, unknown>,
): { readonly outcomes: readonly Outcome[]; readonly missing: Wants } {
  const missing = createWants()
  const outcomes = writers.map((operations, index): Outcome => {
    if (unstorable.has(index)) return { isRefused: true, error: unstorable.get(index) }
    const change = createChange(now)
    const mark = set.undo.mark()
    try {
      const answers = operations.map((operation) => perform(operation, change))
      return { isRefused: false, answers, change }
    } catch (error) {
      set.undo.undoTo(mark)
      addWants(missing, error instanceof Missing ? error.wants : doubtsAbout(operations, set))
      return { isRefused: true, error }
    }
  })
  return { outcomes, missing }
}

/**
 * The rows whose ids a refused writer may have used for new ones. If such a row exists already, that is the reason to
 * give.
 */
function doubtsAbout(operations: readonly Operation[], { tasks, waits, groups }: WorkingSet): Wants {
  const { rows } = guessCollisions(operations)
  const doubts = createWants()
  for (const id of rows.task.values()) if (!tasks.isIdKnown(id)) want(doubts, "task", id)
  for (const id of rows.wait.values()) if (!waits.isKnown(id)) want(doubts, "wait", id)
  for (const id of rows.group.values()) if (!groups.isKnown(id)) want(doubts, "group", id)
  return doubts
}
