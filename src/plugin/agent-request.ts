import type { SessionId } from "../task/id.ts"

/** What of its parent's conversation an agent is handed, as it is when the agent is asked for. */
export const HANDOVERS = ["none", "summary", "full"] as const
export type Handover = (typeof HANDOVERS)[number]

/** The tool by which an agent hands back more than its last text. */
export const FINISH_TOOL = "finish"

/** What an agent may use up. At the end of it, it has one last turn without tools to hand back what it has. */
export interface AgentBudget {
  readonly tokens?: number
  readonly costMicros?: number
  readonly timeMs?: number
}

/** The input that every tool of kind `agent` takes: whoever starts an agent need not know which plugin it comes from. */
export interface AgentRequest {
  readonly task: string
  readonly profile?: string
  readonly name?: string
  /** What the one who asks hands over with it, in words. */
  readonly context?: string
  readonly budget?: AgentBudget
  /** Of a follow-up: the conversation to go on with. */
  readonly resumes?: SessionId
}

/** What the payload of an agent's run says in words, beside whatever else is in it. */
export interface AgentAnswer {
  /** Its last text, whole. */
  readonly answer: string
  /** What it gave to `finish`, whole: then this is what it came to, and the last text is not. */
  readonly digest?: readonly string[]
}
