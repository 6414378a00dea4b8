import type { TaskId } from "../../task/id.ts"
import type { Conversation } from "../conversation/conversation.ts"
import type { Using } from "../conversation/scope.ts"
import type { Turn, TurnResult } from "../conversation/session.ts"
import { stopTurn } from "../conversation/stop-turn.ts"
import { type RecordedEvents, recordEvents } from "./turn-events.ts"

/**
 * Hands out a turn once it is stored. Rejects if it never is: then nothing happened, unless the error says that it may have.
 * If the process dies after the commit and before the answer, the turn goes on at the next start, and the caller, who had no
 * answer, finds it by its idempotency key or as the session's newest turn.
 */
export async function toTurn(
  scope: Using<"log" | "runner">,
  conversation: Conversation,
  take: (onStored: (turn: TaskId) => void) => Promise<TurnResult>,
): Promise<Turn> {
  const stored = Promise.withResolvers<{ readonly id: TaskId; readonly events: RecordedEvents }>()
  // Recorded from here on, before the turn says anything.
  const result = take((id) => stored.resolve({ id, events: recordEvents(conversation.emitter, id) }))
  // Nobody has to await the result of a turn that was stored.
  result.catch(stored.reject)
  const { id, events } = await stored.promise
  result.then(events.end, events.end)
  return {
    id,
    events,
    result,
    stop: (reason = "stopped by the person") =>
      conversation.current?.id === id && stopTurn(scope, conversation, reason),
  }
}
