import type { TaskId } from "../../../task/id.ts"
import type { TaskStore } from "../../../task/store.ts"
import { type DocumentRow, toDocument } from "../../rules/rows/document-row.ts"
import type { Query } from "../connection/database.ts"

const DOCUMENTS_TEXT = "SELECT * FROM documents WHERE workspace = $1 AND collection = $2"
const DOCUMENT = { name: "document", text: `${DOCUMENTS_TEXT} AND id = $3` }
const DOCUMENTS = { name: "documents", text: `${DOCUMENTS_TEXT} ORDER BY id` }
const DOCUMENTS_OF_PREFIX = {
  name: "documents of a prefix",
  text: `${DOCUMENTS_TEXT} AND id >= $3 AND id < $3 || chr(1114111) ORDER BY id`,
}

const ARTIFACT = {
  name: "artifact",
  text: `SELECT media_type, bytes, (SELECT tasks.id FROM artifact_owners JOIN tasks ON tasks.number = task
      WHERE artifact = artifacts.number ORDER BY task LIMIT 1) AS task_id
    FROM artifacts WHERE workspace = $1 AND hash = $2`,
}

interface ArtifactRow {
  readonly media_type: string
  readonly task_id: TaskId | null
  readonly bytes: Buffer
}

export function createDocumentReads(query: Query): Pick<TaskStore, "document" | "documents" | "artifact"> {
  return {
    async document(workspace, collection, id) {
      const [row] = await query<DocumentRow>(DOCUMENT, [workspace, collection, id])
      return row && toDocument(row)
    },
    async documents(workspace, collection, idPrefix) {
      const key = [workspace, collection]
      const found =
        idPrefix === undefined
          ? query<DocumentRow>(DOCUMENTS, key)
          : query<DocumentRow>(DOCUMENTS_OF_PREFIX, [...key, idPrefix])
      return (await found).map(toDocument)
    },
    async artifact(workspace, hash) {
      const [row] = await query<ArtifactRow>(ARTIFACT, [workspace, hash])
      return (
        row && { workspace, hash, mediaType: row.media_type, taskId: row.task_id, bytes: new Uint8Array(row.bytes) }
      )
    },
  }
}
