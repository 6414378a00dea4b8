import { isTerminal } from "../../task/lifecycle.ts"
import { toSessionBusyError } from "../../task/session-busy.ts"
import type { Conversation } from "../conversation/conversation.ts"
import type { Using } from "../conversation/scope.ts"
import { toBusyError } from "../log/stored-turn.ts"

/** True if the conversation has a turn in this process, or a message here waits for its turn. */
export function isBusyHere({ current, messages }: Conversation): boolean {
  return current !== null || messages.count > 0
}

/**
 * Refuses as `session_busy`, with the turn that runs here. A turn whose end is stored keeps nobody out: then this resolves
 * when the turn has left the conversation, and the caller looks again.
 */
export async function refuseUnlessOver({ store }: Using<"store">, conversation: Conversation): Promise<void> {
  const { current, messages, log, queue } = conversation
  const task = current?.taskId ? await store.task(current.taskId) : undefined
  if (messages.count === 0 && task && isTerminal(task.status)) return void (await queue.done)
  if (task && !isTerminal(task.status)) throw toBusyError(log.id, task)
  if (current?.id)
    throw toBusyError(log.id, { id: current.id, status: current.reason === null ? "running" : "stopping" })
  throw toSessionBusyError(
    log.id,
    null,
    `Session ${log.id} is busy: another message waits for its turn. Send it again.`,
  )
}
