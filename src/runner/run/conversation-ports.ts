import { MeanwhileError } from "../../base/error.ts"
import type { ConversationPorts } from "../../plugin/context.ts"
import type { RunnerScope } from "../scope.ts"
import type { ActiveRun } from "./active-run.ts"
import { isLost } from "./ownership.ts"

/** Made when they are first asked for: most tools never do. */
export function toConversationPorts(scope: RunnerScope, active: ActiveRun): ConversationPorts {
  let ports: ConversationPorts | undefined
  const get = (): ConversationPorts => (ports ??= create(scope, active))
  return {
    get sessions() {
      return get().sessions
    },
    get model() {
      return get().model
    },
    get person() {
      return get().person
    },
  }
}

function create(scope: RunnerScope, active: ActiveRun): ConversationPorts {
  if (!scope.conversations) {
    const message = "This runner has no conversations: a tool can reach no session, model or person through it."
    throw new MeanwhileError("wrong_state", message)
  }
  const { taskId, run, workspace, session, traceId, askedBy, abort } = active
  return scope.conversations({
    taskId,
    run,
    workspace,
    session,
    traceId,
    askedBy,
    signal: abort.signal,
    get isLeft() {
      return active.isHandedBack || isLost(active) || active.stop?.by === "shutdown"
    },
  })
}
