import type { Query } from "../../connection/database.ts"
import { wantGroupsOfTasks, lockOthers } from "./lock-others.ts"
import { lockTasks } from "./lock-tasks.ts"
import { readNow } from "../../connection/server-time.ts"
import { readDependents } from "./read-dependents.ts"
import type { WantedKind, Wants } from "../working-set/wants.ts"
import type { WorkingSet } from "../working-set/working-set.ts"

/**
 * Locks and loads the wanted rows: first those that guard others, with their locks, tables and rows always in the same order;
 * then the rows that belong to them. Each part is one statement, so that a statement sees the rows as they are after every
 * lock before it was waited for; they are sent together as far as none needs the answer of another. Answers the time, taken
 * when the locks are held: that of the server, unless one is given.
 */
export async function loadRows(query: Query, wants: Wants, set: WorkingSet, givenNow?: number): Promise<number> {
  const lockingTasks = lockTasks(query, wants, set)
  if (OF_TASKS.some((kind) => wants.rows[kind].size > 0)) {
    await lockingTasks
    wantGroupsOfTasks(wants, set)
  }
  const lockingOthers = lockOthers(query, wants, set)
  const reading = readDependents(query, wants, set)
  const [tasks, others] = await Promise.all([lockingTasks, lockingOthers, reading])
  return givenNow ?? others.now ?? tasks?.now ?? readNow(query)
}

/** The kinds that are asked for by the number or the group of a task. */
const OF_TASKS: readonly WantedKind[] = [
  "groupOfTask",
  "noticesOfTask",
  "claimsOfStep",
  "wait",
  "step",
  "lastCompletion",
  "runsOfTask",
]
