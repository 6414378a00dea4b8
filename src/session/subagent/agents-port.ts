import type { AgentsPort } from "../../runner/run/run-ports.ts"
import { goOnIfUnheard } from "./news.ts"
import { leaveMessage } from "../results/steering-messages.ts"
import type { AgentScope } from "../conversation/scope.ts"

/** What the runner asks about the conversations of agent tasks. */
export function createAgentsPort(scope: AgentScope): AgentsPort {
  return {
    sessionOf: (task) => scope.agents.find(task),
    async say(task, session, text) {
      await leaveMessage(scope, task.workspace, session, text)
      await goOnIfUnheard(scope, task, session)
    },
  }
}
