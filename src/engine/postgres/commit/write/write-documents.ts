import { toStoredKey } from "../../schema/storable.ts"
import type { DocumentEntry } from "../working-set/document-rows.ts"
import type { WorkingSet } from "../working-set/working-set.ts"
import type { Bulk } from "./bulk.ts"
import { columnsOf } from "./row-source.ts"

const KEY = ["workspace", "collection", "id"]

export function removeDocuments(bulk: Bulk, { documents }: WorkingSet): void {
  const gone = documents.changes().flatMap(({ before, after }) => (before && !after ? [before] : []))
  bulk.run(
    gone.length,
    `DELETE FROM documents USING unnest($1::text[], $2::text[], $3::text[]) AS gone (workspace, collection, id)
     WHERE documents.workspace = gone.workspace AND documents.collection = gone.collection AND documents.id = gone.id`,
    [gone.map(({ workspace }) => workspace), gone.map(({ collection }) => collection), gone.map(({ id }) => id)],
  )
}

export function writeDocuments(bulk: Bulk, { documents }: WorkingSet): void {
  const changes = documents.changes()
  const made = changes.flatMap(({ before, after }) => (after && !before ? [toColumns(after)] : []))
  const changed = changes.flatMap(({ before, after }) => (after && before ? [toColumns(after)] : []))
  bulk.insert("documents", columnsOf(made))
  bulk.update("documents", columnsOf(changed), KEY)
}

function toColumns({ workspace, collection, id, version, updatedAt, value }: DocumentEntry) {
  return {
    workspace: toStoredKey(workspace),
    collection: toStoredKey(collection),
    id: toStoredKey(id),
    version,
    updated_at: updatedAt ?? 0,
    value: JSON.stringify(value),
  }
}
