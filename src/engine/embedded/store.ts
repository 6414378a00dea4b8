import type { Clock } from "../../base/clock.ts"
import type { JsonValue } from "../../base/json.ts"
import type { WorkerId } from "../../task/id.ts"
import type { Answers, Operation } from "../../task/operation.ts"
import type { CommitOptions, TaskStore } from "../../task/store.ts"
import { ANNOUNCEMENTS, WORKER_LEASE_PREFIX, type WorkerRecord } from "../../task/worker.ts"
import { toLease, type LeaseRow, toStoredLease } from "../rules/hold-lease.ts"
import { type LeaseWatch, toTaskRecord } from "../rules/tables.ts"
import type { GroupCommit } from "./commit/group-commit.ts"
import { checkIntegrity } from "./read/integrity.ts"
import { createSessionList } from "./read/session-list.ts"
import { createTaskList, createTaskLookup } from "./read/task-list.ts"
import type { Read } from "./sqlite/busy-retry.ts"
import type { Prepare } from "./sqlite/statement.ts"
import type { RecordCache } from "./tables/record-cache.ts"
import type { StoredTables } from "./tables/tables.ts"

export interface StoreParts {
  readonly prepare: Prepare
  readonly clock: Clock
  readonly tables: StoredTables
  readonly cache: RecordCache
  readonly leaseWatch: LeaseWatch
  readonly groupCommit: GroupCommit
  readonly read: Read
}

export function createStore(parts: StoreParts): TaskStore {
  const { prepare, clock, tables, cache, leaseWatch, groupCommit, read } = parts
  const { tasks, runs, events, steps, notices, groups, waits, leases, sessions, documents, artifacts } = tables
  const list = createTaskList(prepare)
  const lookup = createTaskLookup(prepare, clock)
  const sessionList = createSessionList(prepare)
  const workers = createWorkerList(prepare, leaseWatch)
  return {
    commit: <const Operations extends readonly Operation[]>(operations: Operations, options?: CommitOptions) =>
      groupCommit.commit(operations, options) as Promise<Answers<Operations>>,
    task: (id) =>
      read(() => {
        const task = tasks.find(id)
        return task && toTaskRecord(task)
      }),
    run: (id, run) =>
      read(() => {
        const task = tasks.find(id)
        return task && (task.course.run === run ? toTaskRecord(task) : runs.find(task.number, run))
      }),
    tasks: (filter, page) => read(() => list.tasks(filter, page)),
    countTasks: (filter) => read(() => list.countTasks(filter)),
    countByStatus: (filter) => read(() => list.countByStatus(filter)),
    queueAgeMs: (filter) => read(() => lookup.queueAgeMs(filter)),
    findByPrefix: (workspace, prefix, limit) => read(() => lookup.findByPrefix(workspace, prefix, limit)),
    placeInQueue: (id) => read(() => lookup.placeInQueue(id)),
    events: (id, afterSequence, limit) => read(() => events.read(id, afterSequence, limit)),
    steps: (id, run) => read(() => steps.read(id, run)),
    notices: (filter, limit) => read(() => notices.read(filter, limit)),
    group: (id) => read(() => groups.find(id)),
    groups: (filter, limit) => read(() => groups.read(filter, limit)),
    waits: (filter) => read(() => waits.read(filter)),
    wait: (id) => read(() => waits.find(id)),
    leases: (keyPrefix) => read(() => leases.read(keyPrefix).map((lease) => toLease(lease, leaseWatch.isOver(lease)))),
    workers: () => read(workers),
    session: (id) =>
      read(() => {
        cache.begin()
        return cache.tables.sessions.find(id)?.record
      }),
    sessions: (filter, page) => read(() => sessionList.sessions(filter, page)),
    sessionWorkspaces: (after, limit) => read(() => sessionList.sessionWorkspaces(after, limit)),
    messages: (id, afterPosition, limit) => read(() => sessions.messages(id, afterPosition, limit)),
    document: (workspace, collection, id) => read(() => documents.find(workspace, collection, id)),
    documents: (workspace, collection, idPrefix) => read(() => documents.read(workspace, collection, idPrefix)),
    artifact: (workspace, hash) => read(() => artifacts.find(workspace, hash)),
    checkIntegrity: () => read(() => checkIntegrity(prepare)),
    unreachable: () => undefined,
  }
}

type WorkerRow = LeaseRow & { readonly announcement: string | null; readonly running: number }

function createWorkerList(prepare: Prepare, watch: LeaseWatch): () => readonly WorkerRecord[] {
  // A lease that another holder has taken belongs to a worker that is gone.
  const read = prepare<WorkerRow>(`SELECT leases.*,
       (SELECT value FROM documents WHERE workspace = ?2 AND collection = ?3 AND id = holder) AS announcement,
       (SELECT count(*) FROM tasks INDEXED BY tasks_by_status
         WHERE status IN ('running', 'stopping') AND worker = holder AND kind <> 'turn') AS running
     FROM leases WHERE key >= ?1 AND key = ?1 || holder ORDER BY key`)
  return () =>
    read.all(WORKER_LEASE_PREFIX, ANNOUNCEMENTS.workspace, ANNOUNCEMENTS.collection).flatMap((row) => {
      const lease = toStoredLease(row)
      if (watch.isOver(lease)) return []
      const announcement = row.announcement === null ? null : (JSON.parse(row.announcement) as JsonValue)
      return { id: lease.holder as WorkerId, process: lease.data, announcement, running: row.running }
    })
}
