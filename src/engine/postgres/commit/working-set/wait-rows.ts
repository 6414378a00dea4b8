import type { WaitId } from "../../../../task/id.ts"
import type { WaitRecord } from "../../../../task/wait.ts"
import type { WaitTable } from "../../../rules/tables.ts"
import { type Changed, createLog, createMemory, type UndoLog } from "./memory.ts"
import { existsAlready } from "./task-rows.ts"
import { missing } from "./wants.ts"

export interface WaitEntry {
  readonly task: number
  readonly record: WaitRecord
}

export interface WaitRows {
  readonly table: WaitTable
  isKnown(id: WaitId): boolean
  learn(id: WaitId, entry: WaitEntry | undefined): void
  /** Waits that are withdrawn without being loaded. */
  withdrawals(): readonly WaitId[]
  removals(): readonly number[]
  changes(): readonly Changed<WaitEntry>[]
}

export function createWaitRows(undo: UndoLog): WaitRows {
  const waits = createMemory<WaitEntry>(undo)
  const withdrawals = createLog<WaitId>(undo)
  const removals = createLog<number>(undo)

  const table: WaitTable = {
    find(id) {
      if (!waits.isKnown(id)) throw missing("wait", id)
      return waits.get(id)?.record
    },
    open({ number, details, course }, { id, reason, question, expiresAt, onExpiry }, openedAt) {
      if (waits.get(id)) throw existsAlready("wait", id)
      const place = { workspace: details.workspace, taskId: details.id, run: course.run, openedAt }
      const record: WaitRecord = { id, reason, question, expiresAt, onExpiry, ...place, state: "open" }
      waits.set(id, { task: number, record })
    },
    answer(id, answer, answeredBy, answeredAt) {
      const entry = waits.get(id)
      if (!entry) throw missing("wait", id)
      waits.set(id, { ...entry, record: { ...entry.record, state: "answered", answer, answeredBy, answeredAt } })
    },
    withdraw(id) {
      const entry = waits.get(id)
      if (entry) waits.set(id, { ...entry, record: { ...entry.record, state: "withdrawn" } })
      else withdrawals.add(id)
    },
    remove(task) {
      removals.add(task)
      for (const { task: owner, record } of waits.values()) if (owner === task) waits.set(record.id, undefined)
    },
  }

  return {
    table,
    isKnown: waits.isKnown,
    learn: waits.learn,
    withdrawals: withdrawals.entries,
    removals: removals.entries,
    changes: waits.changes,
  }
}
