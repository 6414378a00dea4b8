import type { Boss, NewTicket } from "./boss.ts"
import type { Query } from "../connection/database.ts"
import { type TaskChange, toQueueChanges } from "./queue-changes.ts"
import { settleAll } from "./settle-all.ts"
import { whenSent } from "./when-sent.ts"

/** In the transaction of these changes: the queue changes with it. Resolves once all of it is sent. */
export type ChangeQueue = (query: Query, changes: readonly TaskChange[]) => Promise<void>

/** `isServerTime`: tasks are put off by the clock of the server. */
export function createChangeQueue(boss: Boss, isServerTime: boolean): ChangeQueue {
  return async (inTransaction, changes) => {
    const { entered, left, prioritized } = toQueueChanges(changes, isServerTime)
    await settleAll([
      ...byPlugin(entered).map((ofOne) => whenSent(inTransaction, (query) => boss.insert(query, ofOne))),
      ...byPlugin(left).map((ofOne) => whenSent(inTransaction, (query) => boss.remove(query, ofOne))),
      boss.prioritize(inTransaction, prioritized),
    ])
  }
}

/** Those of one plugin are one statement. */
function byPlugin(tickets: readonly NewTicket[]): readonly (readonly NewTicket[])[] {
  return [...Map.groupBy(tickets, ({ plugin }) => plugin).values()]
}
