import type { Operation } from "../../../task/operation.ts"
import type { Database, Query } from "../connection/database.ts"
import { type Naming, toNamedQuery } from "../connection/naming.ts"
import { guessCollisions, guessRows } from "./guess-rows.ts"
import type { JudgeLease } from "../read/judge-lease.ts"
import type { Outcome } from "../../rules/writer.ts"
import type { PerformGroup } from "./perform-group.ts"
import { addWants, createWants } from "./working-set/wants.ts"
import { createWorkingSet } from "./working-set/working-set.ts"

export interface GroupParts {
  readonly database: Database
  readonly judgeLease: JudgeLease
  /** Groups are much alike: what the server does for one it has mostly done for another. */
  readonly statementOf: Naming
  readonly performGroup: PerformGroup
}

/**
 * Runs all writers in one durable transaction, and answers what became of each. What it throws took back everything: as
 * `isHeldUp` tells, when somebody holds what is wanted for longer than the lock timeout.
 */
export type RunGroup = (
  writers: readonly (readonly Operation[])[],
  lockTimeoutMs: number,
) => Promise<readonly Outcome[]>

export function createRunGroup({ database, judgeLease, statementOf, performGroup }: GroupParts): RunGroup {
  return async (writers, lockTimeoutMs) => {
    const operations = writers.flat()
    /** Found missing by an attempt that failed: the next one locks it together with the rest. */
    const found = createWants()
    let attempts = 0

    const work = (unnamed: Query): ReturnType<PerformGroup> => {
      attempts += 1
      const query = toNamedQuery(unnamed, statementOf)
      const wants = guessRows(operations)
      if (attempts > 1) addWants(wants, guessCollisions(operations))
      addWants(wants, found)
      const set = createWorkingSet(judgeLease)
      return performGroup(query, writers, { set, wants, onMissing: (missing) => addWants(found, missing) })
    }
    const { outcomes, remember } = await database.transaction(work, { lockTimeoutMs })
    remember()
    return outcomes
  }
}
