import type { TokenUsage } from "../../plugin/token-usage.ts"
import type { Conversation } from "../conversation/conversation.ts"
import type { OpenTurn, TurnChange } from "../log/open-turn.ts"
import type { CommitOptions } from "../../task/store.ts"
import type { ContextScope } from "../conversation/context.ts"
import type { Using } from "../conversation/scope.ts"
import type { TurnTrace } from "../conversation/telemetry.ts"
import type { TurnBudget } from "./turn-budget.ts"

/** The parts of the runtime that a turn uses. */
export type TurnServices = ContextScope &
  Using<"background" | "clock" | "ledger" | "log" | "random" | "redactor" | "runner" | "store" | "watch">

/** State that the parts of one turn share. */
export interface TurnScope {
  readonly agents: TurnServices
  readonly conversation: Conversation
  readonly turn: OpenTurn
  readonly trace: TurnTrace
  readonly account: Account
  readonly budget: TurnBudget | null
  /** How many reports lie between it and a person's words: 0 for what a person asked for. */
  readonly hops: number
  /** Changes that are being saved while the turn goes on. */
  saving: Promise<void>
}

/** The turn's usage so far. */
export interface Account {
  readonly startedMs: number
  modelCalls: number
  toolCalls: number
  usage: TokenUsage
  /** Null once the price of a call was not known. */
  costMicros: number | null
}

/** Does not wait: the history has it already, and a model can be asked meanwhile. `settle` tells whether it worked. */
export function saveSoon(scope: TurnScope, change: TurnChange, options?: CommitOptions): void {
  const before = scope.saving
  const saved = scope.turn.save(change, options)
  scope.saving = before.then(() => saved)
  saved.catch(() => {})
  scope.saving.catch(() => {})
}

/** Directly before an effect that must not happen unless everything before it is durable. */
export async function settle(scope: TurnScope): Promise<void> {
  await scope.saving
}
