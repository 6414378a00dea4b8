import type { Query } from "../../connection/database.ts"
import { wantGroupsOfTasks, lockOthers } from "./lock-others.ts"
import type { KnownTasks } from "./known-tasks.ts"
import { type Locked, lockTasks } from "./lock-tasks.ts"
import { readNow } from "../../connection/server-time.ts"
import { readDependents } from "./read-dependents.ts"
import type { WantedKind, Wants } from "../working-set/wants.ts"
import type { WorkingSet } from "../working-set/working-set.ts"

/**
 * Locks and loads the wanted rows: first those that guard others, with their locks, tables and rows always in the same
 * order;
 * then what belongs to them. Each part is one statement, so that what had to be waited for is seen as it is now by
 * those
 * behind it; they are sent together as far as none needs the answer of another. Answers the time, taken when the locks
 * are
 * held: that of the server, unless one is given; and of which version tasks are that were locked.
 */
export async function loadRows(
  query: Query,
  wants: Wants,
  set: WorkingSet,
  { known, givenNow }: LoadOptions,
): Promise<Loaded> {
  const lockingTasks = lockTasks(query, wants, set, known)
  if (OF_TASKS.some((kind) => wants.rows[kind].size > 0)) {
    await lockingTasks
    wantGroupsOfTasks(wants, set)
  }
  const lockingOthers = lockOthers(query, wants, set)
  const reading = readDependents(query, wants, set)
  const [tasks, others] = await Promise.all([lockingTasks, lockingOthers, reading])
  const now = givenNow ?? others.now ?? tasks?.now ?? (await readNow(query))
  return { now, version: tasks?.version ?? others.version }
}

export interface LoadOptions {
  readonly known: KnownTasks
  readonly givenNow: number | undefined
}

export interface Loaded extends Pick<Locked, "now"> {
  readonly version: string | undefined
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
