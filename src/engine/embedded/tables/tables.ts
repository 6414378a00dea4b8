import type { Prepare } from "../sqlite/statement.ts"
import { createArtifactTable } from "./artifact-table.ts"
import { createDocumentTable } from "./document-table.ts"
import { createEventTable } from "./event-table.ts"
import { createGroupTable } from "./group-table.ts"
import { createLeaseTable } from "./lease-table.ts"
import { createNoticeTable } from "./notice-table.ts"
import { createRunTable } from "./run-table.ts"
import { createSessionTable } from "./session-table.ts"
import { createStepTable } from "./step-table.ts"
import { createTaskTable } from "./task-table.ts"
import { createWaitTable } from "./wait-table.ts"

/** The store's tables with their prepared statements: SQL and the shapes of rows, no rules. */
export type StoredTables = ReturnType<typeof createTables>

export function createTables(prepare: Prepare) {
  return {
    tasks: createTaskTable(prepare),
    runs: createRunTable(prepare),
    events: createEventTable(prepare),
    steps: createStepTable(prepare),
    notices: createNoticeTable(prepare),
    waits: createWaitTable(prepare),
    groups: createGroupTable(prepare),
    leases: createLeaseTable(prepare),
    sessions: createSessionTable(prepare),
    documents: createDocumentTable(prepare),
    artifacts: createArtifactTable(prepare),
  }
}
