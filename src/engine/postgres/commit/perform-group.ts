import type { Clock } from "../../../base/clock.ts"
import type { Operation } from "../../../task/operation.ts"
import { type Change, createChange } from "../../rules/change.ts"
import { createPerform, type Perform } from "../../rules/perform.ts"
import type { Outcome } from "../../rules/writer.ts"
import type { Query } from "../connection/database.ts"
import { guessCollisions } from "./guess-rows.ts"
import type { KnownTasks } from "./load/known-tasks.ts"
import type { Locked } from "./load/lock-tasks.ts"
import { loadRows } from "./load/load-rows.ts"
import type { TaskChange } from "../queue/queue-changes.ts"
import type { ServerTime } from "../connection/server-time.ts"
import { addWants, createWants, isWanting, Missing, want, type Wants } from "./working-set/wants.ts"
import type { WorkingSet } from "./working-set/working-set.ts"
import { writeRows } from "./write/write-rows.ts"

export interface PerformParts {
  readonly known: KnownTasks
  /** Default: the time is the store's. */
  readonly clock?: Clock | undefined
  /** Hears what the server says of its time on the way. */
  readonly time?: Pick<ServerTime, "ask">
  /** In the transaction: the queue changes with the tasks. Resolves once all of it is sent. */
  onChanges(query: Query, changes: readonly TaskChange[]): Promise<void>
  /** In the transaction: what other processes hear of once it is committed. */
  notify(query: Query, changes: readonly Change[]): Promise<void>
}

/** What a transaction has at its begin. */
export interface Ground {
  readonly set: WorkingSet
  /** To be loaded into it. */
  readonly wants: Wants
  /** The locks of what it has already. Undefined: it has none. */
  readonly locked?: Locked | undefined
  /** Is told what was found missing on the way. */
  onMissing?(missing: Wants): void
}

export interface Performed {
  readonly outcomes: readonly Outcome[]
  /** To be called once it is committed. */
  remember(): void
}

/** In a transaction that is under way: does what each writer asks for, and sends what has changed by it. */
export type PerformGroup = (
  query: Query,
  writers: readonly (readonly Operation[])[],
  ground: Ground,
) => Promise<Performed>

/** Each time brings something near that was not; operations that never have enough are a mistake in the program. */
const MOST_ROUNDS = 50

export function createPerformGroup({ known, clock, time, onChanges, notify }: PerformParts): PerformGroup {
  /** All is sent before the first answer is back, and the COMMIT behind it, which is refused when any of it fails. */
  async function finish(query: Query, set: WorkingSet, outcomes: readonly Outcome[]): Promise<void> {
    const changes = outcomes.flatMap((outcome) => (outcome.isRefused ? [] : [outcome.change]))
    if (changes.length === 0) return
    writeRows(query, set)
    notify(query, changes).catch(() => {})
    await onChanges(query, toTaskChanges(set))
  }

  return async (query, writers, { set, wants, locked, onMissing }) => {
    const perform = createPerform(set.tables, set.leaseWatch)
    let version = locked?.version
    let lacking = wants
    for (let round = 1; round <= MOST_ROUNDS; round += 1) {
      const isThere = locked !== undefined && !isWanting(lacking)
      const hear = isThere ? undefined : time?.ask()
      const loaded = isThere ? locked : await loadRows(query, lacking, set, { known, givenNow: clock?.now() })
      hear?.(loaded.now)
      version ??= loaded.version
      const { outcomes, missing } = runWriters(writers, set, perform, clock?.now() ?? loaded.now)
      if (!isWanting(missing)) {
        await finish(query, set, outcomes)
        return { outcomes, remember: () => known.learn(version, set.tasks.changes()) }
      }
      set.undo.takeBackTo(0)
      lacking = missing
      onMissing?.(missing)
    }
    throw new Error("The rules look for rows that loading does not bring near.")
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
