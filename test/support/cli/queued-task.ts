import { sampleDetails } from "../../../src/engine/suite/samples.ts"
import type { TaskDetails, TaskRecord } from "../../../src/task/record.ts"

/** A task that waits in the queue, as a store would give it. */
export function toQueuedTask(details: Partial<TaskDetails>): TaskRecord {
  return {
    ...sampleDetails(details),
    status: "queued",
    availableAt: 0,
    queuedAt: 0,
    createdAt: 0,
    startedAt: null,
    run: 1,
    fence: 0,
    ranMs: 0,
    lastSequence: 1,
    progress: null,
    usage: { tokens: 0, costMicros: 0 },
    resumeCount: 0,
    retrievedAt: null,
    hasChildren: false,
    strippedAt: null,
  }
}
