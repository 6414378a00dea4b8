import type { DatabaseSync } from "node:sqlite"
import type { ArtifactRecord } from "../../../task/document.ts"
import type { ArtifactHash, TaskId, WorkspaceId } from "../../../task/id.ts"
import { prepare } from "../sqlite/statement.ts"
import type { ArtifactTable } from "../../rules/tables.ts"

/** Bytes are kept once per workspace, for as long as a task that put them exists, or for ever when no task did. */
export interface StoredArtifacts extends ArtifactTable {
  find(workspace: WorkspaceId, hash: ArtifactHash): ArtifactRecord | undefined
}

interface ArtifactRow {
  readonly media_type: string
  readonly task_id: TaskId | null
  readonly bytes: Uint8Array
}

export function createArtifactTable(database: DatabaseSync): StoredArtifacts {
  const find = prepare<ArtifactRow>(
    database,
    `SELECT media_type, bytes, (SELECT tasks.id FROM artifact_owners JOIN tasks ON tasks.number = task
       WHERE artifact = artifacts.number ORDER BY task LIMIT 1) AS task_id
     FROM artifacts WHERE workspace = ? AND hash = ?`,
  )
  const insert = prepare<{ number: number }>(
    database,
    `INSERT INTO artifacts (workspace, hash, media_type, is_kept, bytes) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (workspace, hash) DO UPDATE SET is_kept = max(is_kept, excluded.is_kept) RETURNING number`,
  )
  const own = prepare(database, "INSERT OR IGNORE INTO artifact_owners (task, artifact) VALUES (?, ?)")
  const owned = prepare<{ artifact: number }>(database, "SELECT artifact FROM artifact_owners WHERE task = ?")
  const disown = prepare(database, "DELETE FROM artifact_owners WHERE task = ?")
  const removeUnowned = prepare(
    database,
    `DELETE FROM artifacts WHERE number = ?1 AND is_kept = 0
     AND NOT EXISTS (SELECT 1 FROM artifact_owners WHERE artifact = ?1)`,
  )
  return {
    find(workspace, hash) {
      const row = find.get(workspace, hash)
      return row && { workspace, hash, mediaType: row.media_type, taskId: row.task_id, bytes: row.bytes }
    },
    put({ workspace, hash, mediaType, bytes }, task) {
      const row = insert.get(workspace, hash, mediaType, task === null ? 1 : 0, bytes)
      if (row && task !== null) own.run(task, row.number)
    },
    removeOwner(task) {
      const artifacts = owned.all(task)
      if (artifacts.length === 0) return
      disown.run(task)
      for (const { artifact } of artifacts) removeUnowned.run(artifact)
    },
  }
}
