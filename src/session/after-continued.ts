import { isMeanwhileError } from "../base/error.ts"
import type { SessionId, TaskId } from "../task/id.ts"
import type { Conversation } from "./conversation.ts"
import type { AgentScope } from "./scope.ts"

const LOOK_AGAIN_MS = 3_600_000

/**
 * Begins again once a turn that a crash or a shutdown left is over, when this process goes on with it: messages of one
 * process wait for each other. What another process runs, or what waits for a person, still refuses.
 */
export async function afterContinued<Result>(
  scope: AgentScope,
  { log }: Conversation,
  begin: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  for (;;) {
    try {
      return await begin()
    } catch (error) {
      const turn = findContinued(scope, log.id, error)
      if (!turn) throw error
      await scope.runner.result(turn, { waitMs: LOOK_AGAIN_MS, ...(signal && { signal }) }, log.workspace)
      signal?.throwIfAborted()
    }
  }
}

/** Queued: a process that takes turns is about to go on with it; one that closes, or only looks, would wait for ever. */
function findContinued({ runner }: AgentScope, session: SessionId, error: unknown): TaskId | undefined {
  if (!isMeanwhileError(error, "wrong_state")) return undefined
  const { turn, status } = error.details
  if (typeof turn !== "string") return undefined
  const isHere =
    (status === "queued" && runner.takesTurns(session)) || (status === "running" && runner.runsHere(turn as TaskId))
  return isHere ? (turn as TaskId) : undefined
}
