import type { TaskEventBody } from "../../../../task/event.ts"
import type { EventTable } from "../../../rules/tables.ts"
import { createLog, type UndoLog } from "./memory.ts"

export interface AppendedEvent {
  readonly task: number
  readonly sequence: number
  readonly run: number
  readonly at: number
  readonly body: TaskEventBody
}

/** A task loses what it has before this sequence number. */
export interface EventRemoval {
  readonly task: number
  readonly before: number
}

export interface EventRows {
  readonly table: EventTable
  removals(): readonly EventRemoval[]
  /** The events that are appended and not removed again. */
  appended(): readonly AppendedEvent[]
}

export function createEventRows(undo: UndoLog): EventRows {
  const appended = createLog<AppendedEvent>(undo)
  const removals = createLog<EventRemoval>(undo)
  const table: EventTable = {
    append: (task, sequence, run, at, body) => appended.add({ task, sequence, run, at, body }),
    removeBefore: (task, before) => removals.add({ task, before }),
    remove: (task) => removals.add({ task, before: Number.MAX_SAFE_INTEGER }),
  }
  return {
    table,
    removals: removals.entries,
    appended() {
      const removed = removals.entries()
      if (removed.length === 0) return appended.entries()
      const before = new Map<number, number>()
      for (const removal of removed) before.set(removal.task, Math.max(removal.before, before.get(removal.task) ?? 0))
      return appended.entries().filter(({ task, sequence }) => sequence >= (before.get(task) ?? 0))
    },
  }
}
