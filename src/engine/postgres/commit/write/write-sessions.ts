import type { StoredSession } from "../../../rules/tables.ts"
import { toStoredKey } from "../../schema/storable.ts"
import type { WorkingSet } from "../working-set/working-set.ts"
import type { Bulk } from "./bulk.ts"
import { columnsOf } from "./row-source.ts"

export function removeSessions(bulk: Bulk, { sessions }: WorkingSet): void {
  const gone = sessions.changes().flatMap(({ before, after }) => {
    return before && before.number !== after?.number ? [before.number] : []
  })
  bulk.run(gone.length, "DELETE FROM messages WHERE session = ANY($1::bigint[])", [gone])
  bulk.run(gone.length, "DELETE FROM sessions WHERE number = ANY($1::bigint[])", [gone])
}

export function writeSessions(bulk: Bulk, { sessions }: WorkingSet): void {
  const changes = sessions.changes()
  const isSame = ({ before, after }: (typeof changes)[number]): boolean => before?.number === after?.number
  const made = changes.flatMap((change) => (change.after && !isSame(change) ? [toSessionColumns(change.after)] : []))
  const changed = changes.flatMap((change) => (change.after && isSame(change) ? [toSessionColumns(change.after)] : []))
  bulk.insert("sessions", columnsOf(made))
  bulk.update("sessions", columnsOf(changed, ["number", "version", "updated_at", "message_count", "data"]), ["number"])
  bulk.insert(
    "messages",
    columnsOf(sessions.messages().map((message) => ({ ...message, body: JSON.stringify(message.body) }))),
  )
}

function toSessionColumns({ number, record }: StoredSession) {
  return {
    number,
    id: toStoredKey(record.id),
    workspace: toStoredKey(record.workspace),
    version: record.version,
    created_at: record.createdAt,
    updated_at: record.updatedAt,
    message_count: record.messageCount,
    data: JSON.stringify(record.data),
  }
}
