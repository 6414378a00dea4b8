import type { Query } from "../../connection/database.ts"
import { type SortedChanges, sortChanges } from "../working-set/memory.ts"
import type { WorkingSet } from "../working-set/working-set.ts"
import { createBulk, type Built, type Bulk, columnsOf } from "./bulk.ts"
import { sweepDependents, writeDependents } from "./write-dependents.ts"
import { removeTasks, sortTasks, writeTasks } from "./write-tasks.ts"
import { toStoredJson, toStoredKey, toStoredText } from "../../schema/storable.ts"
import type { DocumentEntry } from "../working-set/document-rows.ts"
import type { StoredSession, StoredLease } from "../../../rules/tables.ts"
import type { ArrivalEntry, GroupEntry } from "../working-set/group-rows.ts"

/** Sends the statements one behind the other. Nobody waits for their answers: the transaction fails if one of them does. */
export function sendRows(query: Query, statements: readonly Built[]): void {
  for (const { text, values } of statements) query(text, values).catch(() => {})
}

/** The statements for all changes that the rules have made: first removals, then new and changed rows. */
export function buildRows(set: WorkingSet): readonly Built[] {
  const statements: Built[] = []
  const bulk = createBulk(statements)
  removeArtifacts(bulk, set)
  sweepDependents(bulk, set)
  removeGroups(bulk, set)
  copyMessages(bulk, set)
  removeSessions(bulk, set)
  removeLeases(bulk, set)
  removeDocuments(bulk, set)
  removeTasks(bulk, set)
  removeOutputs(bulk, set)
  writeTasks(bulk, set)
  writeDependents(bulk, set)
  bulk.save("groups", sortChanges(set.groups.changes()), toGroupColumns, ["id"])
  bulk.put("arrivals", set.groups.arrivals.changes(), toArrivalColumns, ["group_id", "task"])
  writeSessions(bulk, set)
  // Dates the taking and renewing of leases by the server's clock.
  bulk.save("leases", sortChanges(set.leases.changes()), toLeaseColumns, ["key"], "renewed_at = clock_timestamp()")
  bulk.save("documents", sortChanges(set.documents.changes()), toDocumentColumns, ["workspace", "collection", "id"])
  writeArtifacts(bulk, set)
  return statements
}

function removeDocuments(bulk: Bulk, { documents }: WorkingSet): void {
  const { gone } = sortChanges(documents.changes())
  bulk.run(
    gone.length,
    `DELETE FROM documents USING unnest($1::text[], $2::text[], $3::text[]) AS gone (workspace, collection, id)
     WHERE documents.workspace = gone.workspace AND documents.collection = gone.collection AND documents.id = gone.id`,
    [gone.map(({ workspace }) => workspace), gone.map(({ collection }) => collection), gone.map(({ id }) => id)],
  )
}

function toDocumentColumns({ workspace, collection, id, version, updatedAt, value }: DocumentEntry) {
  return {
    workspace: toStoredKey(workspace, "workspace"),
    collection: toStoredKey(collection, "collection"),
    id: toStoredKey(id, "id"),
    version,
    updated_at: updatedAt ?? 0,
    value: toStoredJson(value, "value"),
  }
}

const isSameSession = (one: StoredSession, other: StoredSession): boolean => one.number === other.number

function copyMessages(bulk: Bulk, { sessions }: WorkingSet): void {
  for (const { from, to, upTo } of sessions.copies()) {
    const copied = "SELECT $2::bigint, position, at, body FROM messages WHERE session = $1 AND position <= $3::integer"
    bulk.run(1, `INSERT INTO messages (session, position, at, body) ${copied}`, [from, to, upTo])
  }
}

function removeSessions(bulk: Bulk, { sessions }: WorkingSet): void {
  const gone = sortChanges(sessions.changes(), isSameSession).gone.map(({ number }) => number)
  bulk.run(gone.length, "DELETE FROM messages WHERE session = ANY($1::bigint[])", [gone])
  bulk.run(gone.length, "DELETE FROM sessions WHERE number = ANY($1::bigint[])", [gone])
}

function writeSessions(bulk: Bulk, { sessions }: WorkingSet): void {
  const { made, changed } = sortChanges(sessions.changes(), isSameSession)
  const moved = changed.map(({ after }) => toSessionColumns(after))
  bulk.insert("sessions", columnsOf(made.map(toSessionColumns)))
  bulk.update("sessions", columnsOf(moved, ["number", "version", "updated_at", "message_count", "data"]), ["number"])
  writeLabels(bulk, made, changed)
  const messages = sessions.messages().map((message) => ({ ...message, body: toStoredJson(message.body, "body") }))
  bulk.insert("messages", columnsOf(messages))
}

/** Only a label changes them: turns write neither these columns nor the rows by which the metadata are found. */
function writeLabels(
  bulk: Bulk,
  made: readonly StoredSession[],
  changed: SortedChanges<StoredSession>["changed"],
): void {
  const relabelled = changed.filter(
    ({ before, after }) =>
      before.record.metadata !== after.record.metadata || before.record.title !== after.record.title,
  )
  const labels = relabelled.map(({ after }) => toSessionColumns(after))
  bulk.update("sessions", columnsOf(labels, ["number", "metadata", "title"]), ["number"])
  const numbers = relabelled.map(({ after }) => after.number)
  bulk.run(numbers.length, "DELETE FROM session_metadata WHERE session = ANY($1::bigint[])", [numbers])
  const pairs = [...made, ...relabelled.map(({ after }) => after)].flatMap(({ number: session, record }) =>
    Object.entries(record.metadata).map(([key, value]) => {
      const pair = { key: toStoredKey(key, "metadata"), value: toStoredKey(value, "metadata") }
      return { workspace: record.workspace, ...pair, session }
    }),
  )
  bulk.insert("session_metadata", columnsOf(pairs))
}

function toSessionColumns({ number, record }: StoredSession) {
  return {
    number,
    id: toStoredKey(record.id, "id"),
    workspace: toStoredKey(record.workspace, "workspace"),
    version: record.version,
    created_at: record.createdAt,
    updated_at: record.updatedAt,
    message_count: record.messageCount,
    data: toStoredJson(record.data, "data"),
    parent: toStoredKey(record.parent, "parent"),
    title: record.title === null ? null : toStoredText(record.title),
    metadata: toStoredJson(record.metadata, "metadata"),
  }
}

/** Locks the rows of artifacts first, so that no task becomes an owner while the last owner is removed. */
function removeArtifacts(bulk: Bulk, { tasks, artifacts }: WorkingSet): void {
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

function writeArtifacts(bulk: Bulk, { artifacts }: WorkingSet): void {
  const put = artifacts.put()
  const workspaces = put.map(({ artifact }) => toStoredKey(artifact.workspace, "workspace"))
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
  const own = put.flatMap(({ artifact, owners }) => owners.map((task) => ({ ...artifact, task })))
  const owned = [...own, ...artifacts.owned()]
  // The lock keeps bytes that were there before from going with their last owner before the new one is written.
  bulk.run(
    owned.length,
    `INSERT INTO artifact_owners (task, artifact) SELECT owned.task, kept.number
     FROM unnest($1::bigint[], $2::text[], $3::text[]) AS owned (task, workspace, hash)
     JOIN (SELECT number, workspace, hash FROM artifacts
       WHERE (workspace, hash) IN (SELECT * FROM unnest($2::text[], $3::text[]))
       ORDER BY number FOR SHARE) AS kept USING (workspace, hash) ON CONFLICT DO NOTHING`,
    [
      owned.map(({ task }) => task),
      owned.map(({ workspace }) => toStoredKey(workspace, "workspace")),
      owned.map(({ hash }) => hash),
    ],
  )
}

function removeGroups(bulk: Bulk, { groups }: WorkingSet): void {
  const gone = sortChanges(groups.changes()).gone.map(({ id }) => id)
  bulk.run(gone.length, "DELETE FROM groups WHERE id = ANY($1::text[])", [gone])
  const emptied = groups.arrivals.removals()
  bulk.run(emptied.length, "DELETE FROM arrivals WHERE group_id = ANY($1::text[])", [emptied])
  const departed = groups.arrivals.departures()
  bulk.run(
    departed.length,
    `DELETE FROM arrivals USING unnest($1::text[], $2::bigint[]) AS departed (group_id, task)
     WHERE arrivals.group_id = departed.group_id AND arrivals.task = departed.task`,
    [departed.map(({ group }) => group), departed.map(({ task }) => task)],
  )
}

function toGroupColumns({ id, workspace, session, name, join, failFast, report, merge, ...moving }: GroupEntry) {
  return {
    id: toStoredKey(id, "id"),
    workspace: toStoredKey(workspace, "workspace"),
    session: toStoredKey(session, "session"),
    name: toStoredText(name),
    join_when: toStoredJson(join, "join"),
    fail_fast: failFast ? 1 : 0,
    report,
    merge,
    state: moving.state,
    created_at: moving.createdAt,
    member_count: moving.memberCount,
  }
}

function toArrivalColumns({ group, task, arrival }: ArrivalEntry) {
  return { group_id: group, task, task_id: arrival.taskId, run: arrival.run, status: arrival.status }
}

/** Removes the output of stripped tasks. The output of removed tasks is removed by the server (ON DELETE CASCADE). */
function removeOutputs(bulk: Bulk, { tasks }: WorkingSet): void {
  const stripped = sortTasks(tasks).changed.flatMap(({ before, after }) => {
    return before.task.course.strippedAt === null && after.task.course.strippedAt !== null ? [after.task.number] : []
  })
  bulk.run(stripped.length, "DELETE FROM outputs WHERE task = ANY($1::bigint[])", [stripped])
  bulk.run(stripped.length, "DELETE FROM output_restarts WHERE task = ANY($1::bigint[])", [stripped])
}

function removeLeases(bulk: Bulk, { leases }: WorkingSet): void {
  const gone = sortChanges(leases.changes()).gone.map(({ key }) => key)
  bulk.run(gone.length, "DELETE FROM leases WHERE key = ANY($1::text[])", [gone])
}

function toLeaseColumns({ key, holder, fence, ttlMs, renewals, data }: StoredLease) {
  return {
    key: toStoredKey(key, "key"),
    holder: toStoredKey(holder, "holder"),
    fence,
    ttl_ms: ttlMs,
    renewals,
    data: toStoredJson(data, "data"),
  }
}
