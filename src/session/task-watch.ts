import { isMeanwhileError, toErrorMessage } from "../base/error.ts"
import type { TaskEvent } from "../task/event.ts"
import type { TaskId } from "../task/id.ts"
import { isTerminal } from "../task/lifecycle.ts"
import type { Conversation } from "./conversation.ts"
import type { AgentScope } from "./scope.ts"

const PAGE_SIZE = 100

/** Passes the events of a task that the agent started on to whoever listens, until it has ended. */
export async function watchTask(scope: AgentScope, conversation: Conversation, taskId: TaskId): Promise<void> {
  let woken = Promise.withResolvers<void>()
  const unsubscribe = scope.bus.subscribeTask(taskId, () => woken.resolve())
  let sequence = 0
  try {
    while (scope.open.get(conversation.log.id) === conversation) {
      woken = Promise.withResolvers()
      const events = await scope.store.events(taskId, sequence, PAGE_SIZE)
      sequence = events.at(-1)?.sequence ?? sequence
      if (conversation.emitter.isHeard) tell(conversation, events)
      if (events.length === PAGE_SIZE) continue
      const task = await scope.store.task(taskId)
      if (!task || (isTerminal(task.status) && task.lastSequence <= sequence)) return
      const cancelPoll = scope.clock.schedule(scope.background.completionScanIntervalMs, woken.resolve, {
        isBackground: true,
      })
      await woken.promise
      cancelPoll()
    }
  } catch (error) {
    if (isMeanwhileError(error, "closed")) return
    scope.log.warn("a task could not be watched", { task: taskId, error: toErrorMessage(error) })
  } finally {
    unsubscribe()
  }
}

function tell({ emitter }: Conversation, events: readonly TaskEvent[]): void {
  for (const event of events) emitter.emit({ type: "task.changed", event })
}
