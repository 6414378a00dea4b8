import type { Clock } from "../../base/clock.ts"
import type { TaskStore } from "../../task/store.ts"
import type { Database } from "./connection/database.ts"
import type { JudgeLease } from "./read/judge-lease.ts"
import { createListReads } from "./read/task-list.ts"
import { createDocumentReads } from "./read/document-reads.ts"
import { createGroupReads } from "./read/group-reads.ts"
import { checkIntegrity } from "./read/integrity.ts"
import { createJournalReads } from "./read/journal-reads.ts"
import { createLeaseReads } from "./read/lease-reads.ts"
import { createSessionReads } from "./read/session-reads.ts"
import { createTaskReads } from "./read/task-reads.ts"

export interface StoreParts {
  readonly database: Pick<Database, "query" | "unreachable">
  /** For callers who control the time, such as tests. Default: the server's clock. */
  readonly clock?: Clock
  readonly judgeLease: JudgeLease
  readonly commit: TaskStore["commit"]
}

/** Every read but the integrity check is one statement, so its answer is of one moment. */
export function createStore({ database, clock, judgeLease, commit }: StoreParts): TaskStore {
  const { query } = database
  return {
    commit,
    ...createTaskReads(query, clock),
    ...createListReads(query, clock),
    ...createJournalReads(query),
    ...createGroupReads(query),
    ...createLeaseReads(query, judgeLease, clock),
    ...createSessionReads(query),
    ...createDocumentReads(query),
    checkIntegrity: () => checkIntegrity(query),
    unreachable: database.unreachable,
  }
}
