/** How far a run is, as its tool reports it. Every part may be missing. */
export interface Progress {
  readonly done: number | null
  readonly total: number | null
  readonly phase: string | null
  /** The newest line the tool reported, for a person to read. */
  readonly line: string | null
  /** Only for an agent's run. */
  readonly activity?: AgentActivity
}

/** The phase of an agent that only waits for its own tasks to end. */
export const WAITING_FOR_TASKS = "waiting for tasks"

/** How far an agent says it is. Each text is one line, and data: nobody but the agent vouches for it. */
export interface ReportedProgress {
  /** From 0 to 1. */
  readonly fraction: number | null
  readonly phase: string | null
  readonly words: string | null
}

export interface AgentActivity {
  readonly toolCalls: number
  /** The newest three, the newest last. */
  readonly lastTools: readonly string[]
  readonly tokens: number
  readonly at: number
  /** Absent until the agent says something. */
  readonly reported?: ReportedProgress
}

export interface Usage {
  readonly tokens: number
  /** Millionths of a US dollar. */
  readonly costMicros: number
}

export const NO_USAGE: Usage = { tokens: 0, costMicros: 0 }
