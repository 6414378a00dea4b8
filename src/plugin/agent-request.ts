import type { SessionId } from "../task/id.ts"

/** The part of its parent's conversation that an agent is handed, as of the moment it is started. */
export const HANDOVERS = ["none", "summary", "full"] as const
export type Handover = (typeof HANDOVERS)[number]

/** The tool by which an agent hands back more than its last text. */
export const FINISH_TOOL = "finish"

/** The tool by which an agent says how far it is. */
export const PROGRESS_TOOL = "report_progress"

/** The budget of an agent. Once it is spent, the agent has one last turn without tools to hand back its results. */
export interface AgentBudget {
  readonly tokens?: number
  readonly costMicros?: number
  readonly timeMs?: number
}

/**
 * The input that every tool of kind `agent` takes: a caller starts an agent without knowing which plugin provides it.
 */
export interface AgentRequest {
  readonly task: string
  readonly profile?: string
  readonly name?: string
  /** Text the caller hands over with the prompt. */
  readonly context?: string
  readonly budget?: AgentBudget
  /** True if the one who asks is told, and woken, when the agent reaches a milestone. Default: only its end is told. */
  readonly milestones?: boolean
  /** For a follow-up: the conversation to continue. */
  readonly resumes?: SessionId
}

/** The text fields of the payload of an agent's run; other fields may stand beside them. */
export interface AgentAnswer {
  /** The agent's last text, whole. */
  readonly answer: string
  /** The input of the agent's `finish` call. If present, it is the agent's result instead of its last text. */
  readonly digest?: readonly string[]
}
