import type { TokenUsage } from "../../plugin/token-usage.ts"
import type { Conversation } from "../conversation/conversation.ts"
import type { OpenTurn } from "../log/session-log.ts"
import type { ContextScope } from "../conversation/context.ts"
import type { Using } from "../conversation/scope.ts"
import type { TurnTrace } from "../conversation/telemetry.ts"
import type { Message } from "../../plugin/message.ts"
import type { ModelCallRecord } from "../log/log-entry.ts"
import type { TurnAsk } from "./turn-ask.ts"
import type { TurnBudget } from "./turn-budget.ts"

/** The parts of the runtime that a turn uses. */
export type TurnServices = ContextScope &
  Using<"clock" | "config" | "ledger" | "log" | "open" | "redactor" | "runner" | "store">

/** One answer of the model, and what it cost. */
export interface ModelAnswer {
  readonly message: Extract<Message, { role: "assistant" }>
  readonly record: ModelCallRecord
}

/** State that the parts of one turn share. */
export interface TurnScope {
  readonly services: TurnServices
  readonly conversation: Conversation
  readonly turn: OpenTurn
  readonly trace: TurnTrace
  readonly account: Account
  readonly budget: TurnBudget | null
  readonly ask: TurnAsk
  /** How many reports lie between the turn and a person's words: 0 for what a person asked for. */
  readonly hops: number
}

/** The turn's usage so far. */
export interface Account {
  readonly startedMs: number
  modelCalls: number
  toolCalls: number
  usage: TokenUsage
  /** Null once the price of a call was not known. */
  costMicros: number | null
  /** True once the model was told that its answer has not the form that was asked for. */
  isAskedAgain: boolean
  /** The answer for whose form the turn failed. It is kept with the turn's end. */
  refused: ModelAnswer | null
}
