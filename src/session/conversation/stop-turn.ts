import { MeanwhileError } from "../../base/error.ts"
import type { TaskId } from "../../task/id.ts"
import type { Requester } from "../../task/stop.ts"
import type { Conversation } from "./conversation.ts"
import type { SessionLog } from "../log/session-log.ts"
import { orWarn } from "./or-warn.ts"
import type { Using } from "./scope.ts"

/** Stops the turn that runs: here at once, and elsewhere once the stop is in the store. False if no turn runs. */
export function stopTurn(
  scope: Using<"log" | "runner">,
  conversation: Conversation,
  reason: string,
  by: Requester = "person",
): boolean {
  const { current, log } = conversation
  if (!current) return false
  current.reason ??= reason
  current.abort.abort(new MeanwhileError("closed", reason))
  if (!current.taskId) return true
  scope.runner.abortTurn(current.taskId, { by, reason })
  void cancelTurn(scope, log, current.taskId, { by, reason })
  return true
}

/** Resolves when the stop is accepted. */
export function cancelTurn(
  scope: Using<"log" | "runner">,
  log: SessionLog,
  turn: TaskId,
  request: { readonly by: Requester; readonly reason: string },
): Promise<void> {
  const stop = () => scope.runner.cancel(turn, request, log.workspace)
  return orWarn(scope, "a turn could not be stopped", { turn }, stop)
}
