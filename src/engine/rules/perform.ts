import type { Operation, OperationName } from "../../task/operation.ts"
import type { AnswerOf } from "../../task/operation-answer.ts"
import type { LeaseWatch, Tables } from "./tables.ts"
import { createApplyHandlers, createNoteHandlers, createWaitHandlers } from "./apply-event.ts"
import { createStepHandlers } from "./record-step.ts"
import { createArtifactHandlers } from "./put-artifact.ts"
import { createBeginRunHandlers, createCreateHandlers } from "./create-task.ts"
import type { Change } from "./change.ts"
import { createSessionHandlers } from "./change-session.ts"
import { createDocumentHandlers } from "./change-document.ts"
import { createGroupHandlers } from "./change-group.ts"
import { createLeaseHandlers } from "./hold-lease.ts"
import type { Handlers } from "./handler.ts"
import { createNoticeHandlers } from "./use-notices.ts"
import { createRemoveHandlers } from "./remove-task.ts"

/** Runs one operation inside the transaction that is open. A refusal is thrown; the caller takes back what was written. */
export type Perform = (operation: Operation, change: Change) => AnswerOf<OperationName>

export function createPerform(tables: Tables, leaseWatch: LeaseWatch): Perform {
  const handlers: Handlers = {
    ...createCreateHandlers(tables),
    ...createApplyHandlers(tables),
    ...createNoteHandlers(tables),
    ...createBeginRunHandlers(tables),
    ...createRemoveHandlers(tables),
    ...createStepHandlers(tables),
    ...createNoticeHandlers(tables),
    ...createGroupHandlers(tables),
    ...createWaitHandlers(tables),
    ...createLeaseHandlers(tables, leaseWatch),
    ...createSessionHandlers(tables),
    ...createDocumentHandlers(tables),
    ...createArtifactHandlers(tables),
  }
  return (operation, change) => {
    const handler = handlers[operation.op] as (operation: Operation, change: Change) => AnswerOf<OperationName>
    return handler(operation, change)
  }
}
