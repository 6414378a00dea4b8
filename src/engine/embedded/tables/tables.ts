import type { DatabaseSync } from "node:sqlite"
import type { Tables } from "../../rules/tables.ts"
import { type StoredArtifacts, createArtifactTable } from "./artifact-table.ts"
import { createDocumentTable, type StoredDocuments } from "./document-table.ts"
import { createEventTable, type StoredEvents } from "./event-table.ts"
import { createGroupTable, type StoredGroups } from "./group-table.ts"
import { createLeaseTable, type StoredLeases } from "./lease-table.ts"
import { createNoticeTable, type StoredNotices } from "./notice-table.ts"
import { createRunTable } from "./run-table.ts"
import { createSessionTable, type StoredSessions } from "./session-table.ts"
import { createStepTable, type StoredSteps } from "./step-table.ts"
import { createTaskTable } from "./task-table.ts"
import { createWaitTable, type StoredWaits } from "./wait-table.ts"

/** The store's tables with their prepared statements: SQL and the shapes of rows, no rules. */
export interface StoredTables extends Tables {
  readonly events: StoredEvents
  readonly steps: StoredSteps
  readonly notices: StoredNotices
  readonly waits: StoredWaits
  readonly groups: StoredGroups
  readonly leases: StoredLeases
  readonly sessions: StoredSessions
  readonly documents: StoredDocuments
  readonly artifacts: StoredArtifacts
}

export function createTables(database: DatabaseSync): StoredTables {
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
