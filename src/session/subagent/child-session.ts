import { toErrorMessage } from "../../base/error.ts"
import type { ChildSession } from "../../plugin/sessions-port.ts"
import { type ChildOptions, runChild } from "./run-child.ts"
import { goOnIfSaid } from "./news.ts"
import type { AgentScope } from "../conversation/scope.ts"

/** A subagent as the call that asked for it sees it. */
export function createChildSession(scope: AgentScope, options: ChildOptions): ChildSession {
  const { session, conversation, run } = options
  return {
    id: session.id,
    send: (message, sending = {}) => runChild(scope, options, message, sending),
    async close() {
      if (run?.isLeft) return
      if (run?.isRecorded) void goOnIfSaid(scope, conversation, run)
      else if (run) scope.agents.forget(run.taskId)
      try {
        await session.close()
      } catch (error) {
        // What it came to is worth more than how it was put away.
        scope.log.warn("a subagent could not be closed", { session: session.id, error: toErrorMessage(error) })
      }
    },
  }
}
