import type { Tables } from "../../../rules/tables.ts"
import { createArtifactRows, createEventRows } from "./appended-rows.ts"
import { createDocumentRows } from "./document-rows.ts"
import { createGroupRows } from "./group-rows.ts"
import type { JudgeLease } from "../../read/judge-lease.ts"
import { createLeaseRows } from "./lease-rows.ts"
import { createUndoLog } from "./memory.ts"
import { createNoticeRows } from "./notice-rows.ts"
import { createRunRows, createStepRows } from "./journal-rows.ts"
import { createSessionRows } from "./session-rows.ts"
import { createTaskRows } from "./task-rows.ts"
import { createWaitRows } from "./wait-rows.ts"

export type WorkingSet = ReturnType<typeof createWorkingSet>

/**
 * The rows that one transaction works on, in memory. The rules run on `tables`; a lookup of a row that is not loaded
 * throws `Missing`. Changed rows are kept apart from loaded rows, and the undo log takes the changes back.
 */
export function createWorkingSet(judgeLease: JudgeLease) {
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
