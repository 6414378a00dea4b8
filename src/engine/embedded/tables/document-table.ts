import type { DatabaseSync } from "node:sqlite"
import type { DocumentRecord } from "../../../task/document.ts"
import type { WorkspaceId } from "../../../task/id.ts"
import { prepare } from "../sqlite/statement.ts"
import { type DocumentRow, toDocument } from "../../rules/rows/document-row.ts"
import type { DocumentTable } from "../../rules/tables.ts"

export interface StoredDocuments extends DocumentTable {
  find(workspace: WorkspaceId, collection: string, id: string): DocumentRecord | undefined
  read(workspace: WorkspaceId, collection: string): readonly DocumentRecord[]
}

export function createDocumentTable(database: DatabaseSync): StoredDocuments {
  const find = prepare<DocumentRow>(
    database,
    "SELECT * FROM documents WHERE workspace = ? AND collection = ? AND id = ?",
  )
  const read = prepare<DocumentRow>(
    database,
    "SELECT * FROM documents WHERE workspace = ? AND collection = ? ORDER BY id",
  )
  const versionOf = prepare<{ version: number }>(
    database,
    "SELECT version FROM documents WHERE workspace = ? AND collection = ? AND id = ?",
  )
  const save = prepare(
    database,
    `INSERT OR REPLACE INTO documents (workspace, collection, id, version, updated_at, value)
     VALUES (?, ?, ?, ?, ?, ?)`,
  )
  const remove = prepare(database, "DELETE FROM documents WHERE workspace = ? AND collection = ? AND id = ?")
  return {
    find(workspace, collection, id) {
      const row = find.get(workspace, collection, id)
      return row && toDocument(row)
    },
    read: (workspace, collection) => read.all(workspace, collection).map(toDocument),
    versionOf: (workspace, collection, id) => versionOf.get(workspace, collection, id)?.version ?? 0,
    save: ({ workspace, collection, id, version, updatedAt, value }) =>
      void save.run(workspace, collection, id, version, updatedAt, JSON.stringify(value)),
    remove: (workspace, collection, id) => void remove.run(workspace, collection, id),
  }
}
