import type { LeaseWatch, Tables } from "../../../rules/tables.ts"
import { type ArtifactRows, createArtifactRows, createEventRows, type EventRows } from "./appended-rows.ts"
import { createDocumentRows, type DocumentRows } from "./document-rows.ts"
import { createGroupRows, type GroupRows } from "./group-rows.ts"
import type { JudgeLease } from "../../read/judge-lease.ts"
import { createLeaseRows, type LeaseRows } from "./lease-rows.ts"
import { createUndoLog, type UndoLog } from "./memory.ts"
import { createNoticeRows, type NoticeRows } from "./notice-rows.ts"
import { createRunRows, type RunRows, createStepRows, type StepRows } from "./journal-rows.ts"
import { createSessionRows, type SessionRows } from "./session-rows.ts"
import { createTaskRows, type TaskRows } from "./task-rows.ts"
import { createWaitRows, type WaitRows } from "./wait-rows.ts"

/**
 * The rows that one transaction works on, in memory. The rules run on `tables`; a lookup of something that is not near
 * throws `Missing`. What they change is kept apart from what was loaded, and taken back by the undo log.
 */
export interface WorkingSet {
  readonly tables: Tables
  readonly leaseWatch: LeaseWatch
  readonly undo: UndoLog
  readonly tasks: TaskRows
  readonly runs: RunRows
  readonly events: EventRows
  readonly steps: StepRows
  readonly notices: NoticeRows
  readonly waits: WaitRows
  readonly groups: GroupRows
  readonly leases: LeaseRows
  readonly sessions: SessionRows
  readonly documents: DocumentRows
  readonly artifacts: ArtifactRows
}

export function createWorkingSet(judgeLease: JudgeLease): WorkingSet {
  const undo = createUndoLog()
  const tasks = createTaskRows(undo)
  const runs = createRunRows(undo, tasks)
  const events = createEventRows(undo)
  const steps = createStepRows(undo, tasks)
  const notices = createNoticeRows(undo, tasks)
  const waits = createWaitRows(undo)
  const groups = createGroupRows(undo)
  const leases = createLeaseRows(undo, judgeLease)
  const sessions = createSessionRows(undo)
  const documents = createDocumentRows(undo)
  const artifacts = createArtifactRows(undo)
  const tables: Tables = {
    tasks: tasks.table,
    runs: runs.table,
    events: events.table,
    steps: steps.table,
    notices: notices.table,
    waits: waits.table,
    groups: groups.table,
    leases: leases.table,
    sessions: sessions.table,
    documents: documents.table,
    artifacts: artifacts.table,
  }
  const rows = { tasks, runs, events, steps, notices, waits, groups, leases, sessions, documents, artifacts }
  return { tables, leaseWatch: leases.watch, undo, ...rows }
}
