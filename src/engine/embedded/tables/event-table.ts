import type { Reads } from "../read/reads.ts"
import { LIMIT, type Prepare } from "../sqlite/statement.ts"
import { type EventRow, toEvent, toEventText } from "../../rules/rows/journal-row.ts"
import type { EventTable } from "../../rules/tables.ts"

export type StoredEvents = EventTable & { readonly read: Reads["events"] }

export function createEventTable(prepare: Prepare): StoredEvents {
  const append = prepare("INSERT INTO events (place, run, at, type, body) VALUES (? << 32 | ?, ?, ?, ?, ?)")
  const read = prepare<EventRow>(`WITH owner (number) AS (SELECT number FROM tasks WHERE id = ?)
     SELECT place & ${SEQUENCE_MASK} AS sequence, run, at, type, body FROM owner CROSS JOIN events
     WHERE place > owner.number << 32 | min(max(?, 0), ${SEQUENCE_MASK}) AND place < (owner.number + 1) << 32
     ORDER BY place ${LIMIT}`)
  const removeBefore = prepare("DELETE FROM events WHERE place > ?1 << 32 AND place < ?1 << 32 | ?2")
  const remove = prepare("DELETE FROM events WHERE place > ?1 << 32 AND place < (?1 + 1) << 32")
  return {
    append: (task, sequence, run, at, body) => void append.run(task, sequence, run, at, body.type, toEventText(body)),
    read: (id, afterSequence, limit) => read.all(id, afterSequence, limit).map((row) => toEvent(id, row)),
    removeBefore: (task, sequence) => void removeBefore.run(task, sequence),
    remove: (task) => void remove.run(task),
  }
}

/** The bits of an event's `place` that hold its sequence. */
const SEQUENCE_MASK = 0xffff_ffff
