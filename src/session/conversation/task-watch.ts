import { isMeanwhileError, toErrorMessage } from "../../base/error.ts"
import { followEvents } from "../../runner/run/follow-events.ts"
import type { TaskId } from "../../task/id.ts"
import { LIVE_STATUSES } from "../../task/lifecycle.ts"
import { type TaskRecord, WORK_KINDS } from "../../task/record.ts"
import type { Conversation } from "./conversation.ts"
import type { Using } from "./scope.ts"

type TaskWatchScope = Using<"bus" | "clock" | "config" | "log" | "open" | "store">

const MOST_LEFT = 500

/** Passes on the events of a task that was written or begun anew in this process, if anybody listens. */
export function followTask(scope: TaskWatchScope, { id, session }: TaskRecord, sinceSequence: number): void {
  const conversation = session === null ? undefined : scope.open.get(session)
  if (!conversation) return
  scope.open.noteTasks(conversation)
  if (conversation.emitter.hears("task.changed")) void watchTask(scope, conversation, id, sinceSequence)
}

/** Watches the live tasks that a conversation has from before. */
export async function followLiveTasks(scope: TaskWatchScope, conversation: Conversation): Promise<void> {
  const { id: session, workspace } = conversation.log
  const filter = { workspace, session, statuses: LIVE_STATUSES, kinds: WORK_KINDS }
  const { items } = await scope.store.tasks(filter, { limit: MOST_LEFT })
  for (const { id, lastSequence } of items) void watchTask(scope, conversation, id, lastSequence)
}

/**
 * Passes each event of a task on to the listeners once, until the task has ended or its conversation is no longer open
 * here.
 */
async function watchTask(
  scope: TaskWatchScope,
  conversation: Conversation,
  taskId: TaskId,
  sinceSequence: number,
): Promise<void> {
  const { bus, clock, store, config, open, log } = scope
  const { watched, emitter } = conversation
  if (watched.has(taskId)) return
  watched.add(taskId)
  const isLeft = (): boolean => open.get(conversation.log.id) !== conversation
  const source = { store, bus, clock, isLeft, pollMs: config.background.completionScanIntervalMs }
  try {
    for await (const event of followEvents(source, taskId, sinceSequence)) emitter.emit({ type: "task.changed", event })
  } catch (error) {
    if (isMeanwhileError(error, "closed")) return
    log.warn("a task could not be watched", { task: taskId, error: toErrorMessage(error) })
  } finally {
    watched.delete(taskId)
  }
}
