import type { AgentBudget, AgentRequest, Handover } from "../../plugin/agent-request.ts"
import type { BackgroundCall } from "./background-call.ts"
import { findAgentTool } from "./find-tool.ts"
import { type Started, type StartOptions, startTool } from "./start-task.ts"

export interface AgentStart extends StartOptions {
  readonly task: string
  readonly profile?: string
  readonly name?: string
  /** What of this conversation it is handed, as it stands now. Default `summary`. */
  readonly handover?: Handover
  readonly budget?: AgentBudget
}

export async function startAgent(call: BackgroundCall, request: AgentStart): Promise<Started> {
  const { task, profile, name, handover = "summary", budget, ...options } = request
  const found = findAgentTool(call)
  const context = await call.context.sessions.handOver(handover)
  const input: AgentRequest = {
    task,
    ...(profile !== undefined && { profile }),
    ...(name !== undefined && { name }),
    // Also when it is empty: an agent that is handed nothing takes no summary by itself.
    context,
    ...(budget && { budget }),
  }
  return startTool(call, found, input, options)
}
