import type { AgentsPort } from "../runner/agents-port.ts"
import { leaveMessage } from "./delivery/said-messages.ts"
import type { AgentScope } from "./scope.ts"

/** What the runner asks about the conversations of agent tasks. */
export function createAgentsPort(scope: AgentScope): AgentsPort {
  return {
    sessionOf: (task) => scope.agents.find(task),
    async say({ workspace }, session, text) {
      await leaveMessage(scope, workspace, session, text)
      scope.agents.tellSaid(session)
    },
  }
}
