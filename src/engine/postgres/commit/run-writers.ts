import { isMeanwhileError, MeanwhileError, toErrorMessage } from "../../../base/error.ts"
import type { Operation } from "../../../task/operation.ts"
import { createChange } from "../../rules/change.ts"
import type { Perform } from "../../rules/perform.ts"
import type { Outcome } from "../../rules/writer.ts"
import { isTooLong } from "../schema/storable.ts"
import { guessCollisions } from "./guess-rows.ts"
import { addWants, createWants, isWanting, Missing, want, type Wants } from "./working-set/wants.ts"
import type { WorkingSet } from "./working-set/working-set.ts"
import type { Built } from "./write/bulk.ts"
import { buildRows } from "./write/write-rows.ts"

interface WritersRun {
  readonly outcomes: readonly Outcome[]
  readonly missing: Wants
  /** What is to be sent, unless something is missing. */
  readonly statements: readonly Built[]
}

/** Runs the rules for all writers. One whose values cannot be stored is refused, and the others go on without it. */
export function runWriters(
  writers: readonly (readonly Operation[])[],
  set: WorkingSet,
  perform: Perform,
  now: number,
): WritersRun {
  const unstorable = new Map<number, unknown>()
  for (;;) {
    const { outcomes, missing } = runRules(writers, set, perform, now, unstorable)
    if (isWanting(missing)) return { outcomes, missing, statements: [] }
    const built = tryToBuild(set)
    if (!("error" in built)) return { outcomes, missing, statements: built.statements }
    const run = (count: number): void => {
      set.undo.takeBackTo(0)
      runRules(writers.slice(0, count), set, perform, now, unstorable)
    }
    const { index, error } = findUnstorable(writers.length, built.error, set, run)
    set.undo.takeBackTo(0)
    unstorable.set(index, error)
  }
}

/** By halves: the rows of the writers before it can be built, and those up to it cannot. */
function findUnstorable(
  count: number,
  ofAll: unknown,
  set: WorkingSet,
  run: (count: number) => void,
): { readonly index: number; readonly error: unknown } {
  let [good, bad, error] = [0, count, ofAll]
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2)
    run(middle)
    const built = tryToBuild(set)
    if ("error" in built) [bad, error] = [middle, built.error]
    else good = middle
  }
  return { index: good, error }
}

/** Rows that are too long together are nobody's mistake: the group is divided. */
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

/** A writer that lacks a row does not keep the others from finding what they lack: all of it is loaded at once. */
function runRules(
  writers: readonly (readonly Operation[])[],
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
      set.undo.takeBackTo(mark)
      addWants(missing, error instanceof Missing ? error.wants : doubtsAbout(operations, set))
      return { isRefused: true, error }
    }
  })
  return { outcomes, missing }
}

/** A refused writer may have written a row before that exists already: then that is the reason to give. */
function doubtsAbout(operations: readonly Operation[], { tasks, waits, groups }: WorkingSet): Wants {
  const { rows } = guessCollisions(operations)
  const doubts = createWants()
  for (const id of rows.task.values()) if (!tasks.isIdKnown(id)) want(doubts, "task", id)
  for (const id of rows.wait.values()) if (!waits.isKnown(id)) want(doubts, "wait", id)
  for (const id of rows.group.values()) if (!groups.isKnown(id)) want(doubts, "group", id)
  return doubts
}
