import type { LeaseWatch, Tables } from "../../../rules/tables.ts"
import { type ArtifactRows, createArtifactRows, createEventRows, type EventRows } from "./appended-rows.ts"
import { createDocumentRows, type DocumentRows } from "./document-rows.ts"
import { createGroupRows, type GroupRows } from "./group-rows.ts"
import type { JudgeLease } from "../../read/judge-lease.ts"
import { createLeaseRows, type LeaseRows } from "./lease-rows.ts"
import { createUndoLog, type UndoLog } from "./memory.ts"
import { createNoticeRows, type NoticeRows } from "./notice-rows.ts"
import { createRunRows, createStepRows, type RunRows, type StepRows } from "./journal-rows.ts"
import { createSessionRows, type SessionRows } from "./session-rows.ts"
import { createTaskRows, type TaskRows } from "./task-rows.ts"
import { createWaitRows, type WaitRows } from "./wait-rows.ts"

/**
 * The rows that one transaction works on, in memory. The rules run on `tables`; a lookup of a row that is not loaded
 * throws `Missing`. Changed rows are kept apart from loaded rows, and the undo log takes the changes back.
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
  const rows = {
    tasks,
    runs: createRunRows(undo, tasks),
    events: createEventRows(undo),
    steps: createStepRows(undo, tasks),
    notices: createNoticeRows(undo, tasks),
    waits: createWaitRows(undo),
    groups: createGroupRows(undo),
    leases: createLeaseRows(undo, judgeLease),
    sessions: createSessionRows(undo),
    documents: createDocumentRows(undo),
    artifacts: createArtifactRows(undo),
  }
  const tables: Tables = {
    tasks: tasks.table,
    runs: rows.runs.table,
    events: rows.events.table,
    steps: rows.steps.table,
    notices: rows.notices.table,
    waits: rows.waits.table,
    groups: rows.groups.table,
    leases: rows.leases.table,
    sessions: rows.sessions.table,
    documents: rows.documents.table,
    artifacts: rows.artifacts.table,
  }
  return { ...rows, tables, leaseWatch: rows.leases.watch, undo }
}
