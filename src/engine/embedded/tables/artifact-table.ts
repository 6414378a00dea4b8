import type { TaskId } from "../../../task/id.ts"
import type { Reads } from "../read/reads.ts"
import type { Prepare } from "../sqlite/statement.ts"
import type { ArtifactTable } from "../../rules/tables.ts"

/**
 * Bytes are kept once per workspace: for as long as a task that put them, or handed them back, exists, or for ever if they
 * were put without a task.
 */
export type StoredArtifacts = ArtifactTable & { readonly find: Reads["artifact"] }

interface ArtifactRow {
  readonly media_type: string
  readonly task_id: TaskId | null
  readonly bytes: Uint8Array
}

export function createArtifactTable(prepare: Prepare): StoredArtifacts {
  const find = prepare<ArtifactRow>(`SELECT media_type, bytes,
       (SELECT tasks.id FROM artifact_owners JOIN tasks ON tasks.number = task
         WHERE artifact = artifacts.number ORDER BY task LIMIT 1) AS task_id
     FROM artifacts WHERE workspace = ? AND hash = ?`)
  const insert = prepare<{ number: number }>(`INSERT INTO artifacts (workspace, hash, media_type, is_kept, bytes)
     VALUES (?, ?, ?, ?, ?) ON CONFLICT (workspace, hash) DO UPDATE SET is_kept = max(is_kept, excluded.is_kept) RETURNING number`)
  const own = prepare("INSERT OR IGNORE INTO artifact_owners (task, artifact) VALUES (?, ?)")
  const ownKept = prepare(`INSERT OR IGNORE INTO artifact_owners (task, artifact)
     SELECT ?, number FROM artifacts WHERE workspace = ? AND hash = ?`)
  const owned = prepare<{ artifact: number }>("SELECT artifact FROM artifact_owners WHERE task = ?")
  const disown = prepare("DELETE FROM artifact_owners WHERE task = ?")
  const removeUnowned = prepare(`DELETE FROM artifacts WHERE number = ?1 AND is_kept = 0
     AND NOT EXISTS (SELECT 1 FROM artifact_owners WHERE artifact = ?1)`)
  return {
    find(workspace, hash) {
      const row = find.get(workspace, hash)
      return row && { workspace, hash, mediaType: row.media_type, taskId: row.task_id, bytes: row.bytes }
    },
    put({ workspace, hash, mediaType, bytes }, task) {
      const row = insert.get(workspace, hash, mediaType, task === null ? 1 : 0, bytes)
      if (row && task !== null) own.run(task, row.number)
    },
    own: (workspace, hash, task) => void ownKept.run(task, workspace, hash),
    removeOwner(task) {
      const artifacts = owned.all(task)
      if (artifacts.length === 0) return
      disown.run(task)
      for (const { artifact } of artifacts) removeUnowned.run(artifact)
    },
  }
}
