import { createHash } from "node:crypto"
import { MeanwhileError } from "../../base/error.ts"
import type { DocumentRecord } from "../../task/document.ts"
import type { ArtifactHash } from "../../task/id.ts"
import type { Operation } from "../../task/operation.ts"
import { createApplyHandlers, createNoteHandlers, createWaitHandlers } from "./apply-event.ts"
import { createGroupHandlers } from "./change-group.ts"
import { createSessionHandlers } from "./change-session.ts"
import { type Answer, type Change, type Handlers, wakeSession } from "./change.ts"
import { createBeginRunHandlers, createCreateHandlers } from "./create-task.ts"
import { createLeaseHandlers } from "./hold-lease.ts"
import { createStepHandlers } from "./record-step.ts"
import { createCallHandlers } from "./settle-below.ts"
import { requireTask } from "./refusal.ts"
import { createTaskHandlers } from "./change-task.ts"
import type { LeaseWatch, Tables } from "./tables.ts"
import { createNoticeHandlers } from "./use-notices.ts"

/** Runs one operation inside the open transaction. A refusal is thrown; the caller rolls back what was written. */
export type Perform = (operation: Operation, change: Change) => Answer

export function createPerform(tables: Tables, leaseWatch: LeaseWatch): Perform {
  const handlers: Handlers = {
    ...createCreateHandlers(tables),
    ...createApplyHandlers(tables),
    ...createCallHandlers(tables),
    ...createNoteHandlers(tables),
    ...createBeginRunHandlers(tables),
    ...createTaskHandlers(tables),
    ...createStepHandlers(tables),
    ...createNoticeHandlers(tables),
    ...createGroupHandlers(tables),
    ...createWaitHandlers(tables),
    ...createLeaseHandlers(tables, leaseWatch),
    ...createSessionHandlers(tables),
    ...createDocumentHandlers(tables),
    ...createArtifactHandlers(tables),
  }
  return (operation, change) => (handlers[operation.op] as Perform)(operation, change)
}

function createDocumentHandlers({ documents }: Tables) {
  return {
    "document.put"({ workspace, collection, id, value, expectedVersion, wakes = null }, change) {
      const version = documents.versionOf(workspace, collection, id)
      if (version !== expectedVersion) {
        const text = `Document ${collection}/${id} is at version ${version}, not ${expectedVersion}. Read it again before writing.`
        throw new MeanwhileError("version_conflict", text, { collection, id, version })
      }
      const document: DocumentRecord = { workspace, collection, id, version: version + 1, updatedAt: change.now, value }
      documents.save(document)
      wakeSession(change, wakes)
      return document
    },
    "document.delete"({ workspace, collection, id }) {
      documents.remove(workspace, collection, id)
      return null
    },
  } satisfies Partial<Handlers>
}

function createArtifactHandlers({ tasks, artifacts }: Tables) {
  return {
    "artifact.put"({ workspace, taskId, mediaType, bytes }) {
      const hash = `sha256:${createHash("sha256").update(bytes).digest("hex")}` as ArtifactHash
      const task = taskId === null ? null : requireTask(tasks, taskId).number
      artifacts.put({ workspace, hash, mediaType, bytes }, task)
      return hash
    },
  } satisfies Partial<Handlers>
}
