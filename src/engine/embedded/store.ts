import type { DatabaseSync } from "node:sqlite"
import type { Clock } from "../../base/clock.ts"
import type { Operation } from "../../task/operation.ts"
import type { Answers } from "../../task/operation-answer.ts"
import type { CommitOptions, TaskStore } from "../../task/store.ts"
import type { GroupCommit } from "./group-commit.ts"
import type { LeaseWatch } from "../rules/tables.ts"
import { toLease } from "../rules/hold-lease.ts"
import type { Read } from "./read.ts"
import { checkIntegrity } from "./reads/integrity.ts"
import { listSessions } from "./reads/session-list.ts"
import { createTaskCounts } from "./reads/task-counts.ts"
import { createTaskList } from "./reads/task-list.ts"
import { createTaskLookup } from "./reads/task-lookup.ts"
import { createWorkerList } from "./reads/worker-list.ts"
import { toTaskRecord } from "../rules/stored-task.ts"
import type { RecordCache } from "./tables/record-cache.ts"
import type { StoredTables } from "./tables/tables.ts"

export interface StoreParts {
  readonly database: DatabaseSync
  readonly clock: Clock
  readonly tables: StoredTables
  readonly cache: RecordCache
  readonly leaseWatch: LeaseWatch
  readonly groupCommit: GroupCommit
  readonly read: Read
}

export function createStore({ database, clock, tables, cache, leaseWatch, groupCommit, read }: StoreParts): TaskStore {
  const { tasks, runs, events, steps, notices, groups, waits, leases, sessions, documents, artifacts } = tables
  const list = createTaskList(database)
  const lookup = createTaskLookup(database, clock)
  const counts = createTaskCounts(database, clock)
  const workers = createWorkerList(database, leaseWatch)
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
    tasks: (filter, page) => read(() => list.page(filter, page)),
    countTasks: (filter) => read(() => list.count(filter)),
    countByStatus: (filter) => read(() => counts.byStatus(filter)),
    queueAgeMs: (filter) => read(() => counts.queueAgeMs(filter)),
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
    sessions: (workspace, page) => read(() => listSessions(sessions, workspace, page)),
    messages: (id, afterPosition, limit) => read(() => sessions.messages(id, afterPosition, limit)),
    document: (workspace, collection, id) => read(() => documents.find(workspace, collection, id)),
    documents: (workspace, collection) => read(() => documents.read(workspace, collection)),
    artifact: (workspace, hash) => read(() => artifacts.find(workspace, hash)),
    checkIntegrity: () => read(() => checkIntegrity(database)),
  }
}
