import type { DatabaseSync } from "node:sqlite"
import { type ArtifactTable, createArtifactTable } from "./artifact-table.ts"
import { createDocumentTable, type DocumentTable } from "./document-table.ts"
import { createEventTable, type EventTable } from "./event-table.ts"
import { createGroupTable, type GroupTable } from "./group-table.ts"
import { createLeaseTable, type LeaseTable } from "./lease-table.ts"
import { createNoticeTable, type NoticeTable } from "./notice-table.ts"
import { createRunTable, type RunTable } from "./run-table.ts"
import { createSessionTable, type SessionTable } from "./session-table.ts"
import { createStepTable, type StepTable } from "./step-table.ts"
import { createTaskTable, type TaskTable } from "./task-table.ts"
import { createWaitTable, type WaitTable } from "./wait-table.ts"

/** The store's tables with their prepared statements: SQL and the shapes of rows, no rules. */
export interface Tables {
  readonly tasks: TaskTable
  readonly runs: RunTable
  readonly events: EventTable
  readonly steps: StepTable
  readonly notices: NoticeTable
  readonly waits: WaitTable
  readonly groups: GroupTable
  readonly leases: LeaseTable
  readonly sessions: SessionTable
  readonly documents: DocumentTable
  readonly artifacts: ArtifactTable
}

export function createTables(database: DatabaseSync): Tables {
  return {
    tasks: createTaskTable(database),
    runs: createRunTable(database),
    events: createEventTable(database),
    steps: createStepTable(database),
    notices: createNoticeTable(database),
    waits: createWaitTable(database),
    groups: createGroupTable(database),
    leases: createLeaseTable(database),
    sessions: createSessionTable(database),
    documents: createDocumentTable(database),
    artifacts: createArtifactTable(database),
  }
}
