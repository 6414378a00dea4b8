import type { TokenUsage } from "../../plugin/token-usage.ts"
import type { SessionId, TaskId } from "../../task/id.ts"

/** One model call as it was paid for. */
export interface LedgerEntry {
  readonly at: number
  readonly session: SessionId
  /** Its task; null in a session that is not kept. */
  readonly turn: TaskId | null
  /** The task of a subagent's turn, or of the call in which a plugin asked the model. */
  readonly task: TaskId | null
  readonly model: string
  readonly usage: TokenUsage
  /** Millionths of a US dollar; null when no price is known. */
  readonly costMicros: number | null
  /** `lost`: a crash came in between; what it used is estimated. `helper`: asked for by a plugin. */
  readonly purpose: "turn" | "lost" | "helper"
}

export interface LedgerTotal {
  readonly calls: number
  readonly usage: TokenUsage
  /** The cost of the calls whose price is known. */
  readonly costMicros: number
  readonly hasUnknownCost: boolean
}

export type LedgerKey = "session" | "turn" | "task" | "model"

export interface LedgerFilter {
  readonly session?: SessionId
  readonly turn?: TaskId
  readonly task?: TaskId
  readonly model?: string
}
