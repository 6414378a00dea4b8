import type { Reads } from "../read/reads.ts"
import type { Prepare } from "../sqlite/statement.ts"
import { type DocumentRow, toDocument } from "../../rules/rows/document-row.ts"
import type { DocumentTable } from "../../rules/tables.ts"

export type StoredDocuments = DocumentTable & { readonly find: Reads["document"]; readonly read: Reads["documents"] }

export function createDocumentTable(prepare: Prepare): StoredDocuments {
  const find = prepare<DocumentRow>("SELECT * FROM documents WHERE workspace = ? AND collection = ? AND id = ?")
  const read = prepare<DocumentRow>("SELECT * FROM documents WHERE workspace = ? AND collection = ? ORDER BY id")
  const readPrefix = prepare<DocumentRow>(`SELECT * FROM documents
     WHERE workspace = ?1 AND collection = ?2 AND id >= ?3 AND id < ?3 || char(0x10ffff) ORDER BY id`)
  const versionOf = prepare<{ version: number }>(
    "SELECT version FROM documents WHERE workspace = ? AND collection = ? AND id = ?",
  )
  const save = prepare(`INSERT OR REPLACE INTO documents (workspace, collection, id, version, updated_at, value)
     VALUES (?, ?, ?, ?, ?, ?)`)
  const remove = prepare("DELETE FROM documents WHERE workspace = ? AND collection = ? AND id = ?")
  return {
    find(workspace, collection, id) {
      const row = find.get(workspace, collection, id)
      return row && toDocument(row)
    },
    read: (workspace, collection, idPrefix) =>
      (idPrefix === undefined ? read.all(workspace, collection) : readPrefix.all(workspace, collection, idPrefix)).map(
        toDocument,
      ),
    versionOf: (workspace, collection, id) => versionOf.get(workspace, collection, id)?.version ?? 0,
    save: ({ workspace, collection, id, version, updatedAt, value }) =>
      void save.run(workspace, collection, id, version, updatedAt, JSON.stringify(value)),
    remove: (workspace, collection, id) => void remove.run(workspace, collection, id),
  }
}
