import type { Query } from "./connection/database.ts"
import { lockRows } from "./load/lock-rows.ts"
import { readDependents } from "./load/read-dependents.ts"
import type { Wants } from "./working-set/wants.ts"
import type { WorkingSet } from "./working-set/working-set.ts"

/**
 * Brings the wanted rows near: first those that guard others, with their locks, then what belongs to them. Answers the
 * time, taken when the locks are held: that of the store, unless one is given.
 */
export async function loadRows(query: Query, wants: Wants, set: WorkingSet, givenNow?: number): Promise<number> {
  const now = await lockRows(query, wants, set, givenNow)
  await readDependents(query, wants, set)
  return now
}
