import { toStoredKey, toStoredText } from "../../schema/storable.ts"
import type { WorkingSet } from "../working-set/working-set.ts"
import type { Bulk } from "./bulk.ts"

/** The rows of artifacts are locked first, so that nobody becomes an owner while the last one goes. */
export function removeArtifacts(bulk: Bulk, { tasks, artifacts }: WorkingSet): void {
  const gone = artifacts.removals().filter((task) => !tasks.isNew(task))
  const owned = "SELECT artifact FROM artifact_owners WHERE task = ANY($1::bigint[])"
  bulk.run(gone.length, `SELECT FROM artifacts WHERE number IN (${owned}) ORDER BY number FOR UPDATE`, [gone])
  bulk.run(
    gone.length,
    `DELETE FROM artifacts WHERE number IN (${owned}) AND is_kept = 0 AND NOT EXISTS (
       SELECT FROM artifact_owners WHERE artifact = artifacts.number AND task <> ALL($1::bigint[]))`,
    [gone],
  )
  bulk.run(gone.length, "DELETE FROM artifact_owners WHERE task = ANY($1::bigint[])", [gone])
}

export function writeArtifacts(bulk: Bulk, { artifacts }: WorkingSet): void {
  const put = artifacts.put()
  const workspaces = put.map(({ artifact }) => toStoredKey(artifact.workspace))
  const hashes = put.map(({ artifact }) => artifact.hash)
  bulk.run(
    put.length,
    `INSERT INTO artifacts (workspace, hash, media_type, is_kept, bytes)
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::smallint[], $5::bytea[]) ORDER BY 1, 2
     ON CONFLICT (workspace, hash) DO UPDATE SET is_kept = greatest(artifacts.is_kept, excluded.is_kept)`,
    [
      workspaces,
      hashes,
      put.map(({ artifact }) => toStoredText(artifact.mediaType)),
      put.map(({ isKept }) => (isKept ? 1 : 0)),
      put.map(({ artifact }) => Buffer.from(artifact.bytes)),
    ],
  )
  const owned = put.flatMap(({ artifact, owners }) => owners.map((task) => ({ ...artifact, task })))
  bulk.run(
    owned.length,
    `INSERT INTO artifact_owners (task, artifact) SELECT owned.task, number
     FROM unnest($1::bigint[], $2::text[], $3::text[]) AS owned (task, workspace, hash)
     JOIN artifacts USING (workspace, hash) ON CONFLICT DO NOTHING`,
    [owned.map(({ task }) => task), owned.map(({ workspace }) => workspace), owned.map(({ hash }) => hash)],
  )
}
