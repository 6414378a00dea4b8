import type { JsonObject, JsonValue } from "../../base/json.ts"
import type { Message } from "../../plugin/message.ts"
import type { SessionId, TaskId, WorkspaceId } from "../../task/id.ts"
import type { NoticeKey } from "../../task/notice.ts"
import type { Usage } from "../../task/progress.ts"
import type { AskingStep } from "../../task/record.ts"
import type { SessionRecord } from "../../task/session.ts"
import type { OnCrash, Step } from "../../task/step.ts"
import type { CommitOptions } from "../../task/store.ts"
import type { LogEntry, PaidCall } from "./log-entry.ts"
import type { RecallOptions, SaidText } from "./recall-said.ts"
import type { SessionData } from "./session-data.ts"

export interface LogChange {
  readonly entries: readonly LogEntry[]
  readonly data?: Partial<SessionData>
  /** Means nothing in a session that is not kept: there it is done before. */
  readonly settles?: Settlement
}

/** Notices and messages that the entries of a change tell the model, and that the same commit marks as used. */
export interface Settlement {
  readonly notices: readonly NoticeKey[]
  /** Ids of messages that were left for the agent. */
  readonly said: readonly string[]
}

/** One transaction of a turn. */
export interface TurnChange extends LogChange {
  readonly started?: readonly { readonly key: string; readonly onCrash: OnCrash }[]
  readonly finished?: readonly FinishedStep[]
  readonly spent?: Usage | undefined
}

export interface FinishedStep {
  readonly key: string
  readonly result: JsonValue
  /** The conversation holds what it answered: the results that it claimed for that are used. */
  readonly settlesClaims?: true
}

/** A turn that has begun, kept or not. */
export interface OpenTurn {
  /** Null in a session that is not kept. */
  readonly taskId: TaskId | null
  readonly signal: AbortSignal
  readonly traceId: string
  /** The task of the call that asked for it, of a subagent's turn. */
  readonly askedBy: TaskId | null
  /** The metadata that the turn was begun with. */
  readonly metadata: JsonObject
  /** A crash or a shutdown came in between: its beginning is in the log. */
  readonly isContinued: boolean
  /** At a shutdown: what is unfinished is left for the next claim. */
  isHandedBack(): boolean
  stopReason(): string | null
  /** Names a step as the one that asks for a task; undefined in a session that is not kept. */
  askingStep(key: string): AskingStep | undefined
  steps(): Promise<readonly Step[]>
  /** Directly before an effect. */
  requireOwned(): Promise<void>
  /** The history has it at once; resolves when it is committed. Changes are durable in the order of the calls. */
  save(change: TurnChange, options?: CommitOptions): Promise<void>
  /** Saves without waiting: the model can be asked meanwhile. `settle` tells whether it worked. */
  saveSoon(change: TurnChange, options?: CommitOptions): void
  /** Directly before an effect that must not happen unless everything saved so far is durable. */
  settle(): Promise<void>
  /** Becomes durable with the turn's end, whatever that is. */
  finish(change: LogChange & Pick<TurnChange, "spent">): void
}

export interface TurnBeginning extends LogChange {
  /** Instead of that of the opening, of a turn that nobody asked for: the session is not named for it. */
  readonly title?: string
  /** Beside that of the opening. */
  readonly metadata?: JsonObject
}

export interface TurnOpening {
  /**
   * Called before `toBeginning`, once the log is as the store has it. Undefined: there is nothing to wait for, so that
   * nobody can have changed the log meanwhile.
   */
  readonly prepare?: () => Promise<void> | undefined
  /**
   * Returns the first entries of the turn, which are written in one transaction with its record. Called once the history
   * is as it will be then: until now another process may have gone on with it. If it throws, `turn` rejects with that
   * error and nothing is written.
   */
  readonly toBeginning: (history: readonly Message[]) => Promise<TurnBeginning>
  /** One line for people. */
  readonly title: string
  readonly parentTask: TaskId | null
  readonly traceId: string
  /** Names the turn: refused as `wrong_state` when there is one of that name. Means nothing in a session that is not kept. */
  readonly idempotencyKey?: string
  /** Metadata that a later claim needs after a crash. */
  readonly metadata?: JsonObject
  /** Stops the turn, in a session that is not kept; where it is, the run does. */
  readonly current: { readonly abort: AbortController; readonly reason: string | null }
  /** Takes the turn, once it has begun. */
  readonly take: (turn: OpenTurn) => Promise<string>
  /** Told the turn's id before it is taken. */
  readonly onBegun?: (turn: TaskId | null) => void
}

/** Model calls that leave no message. They become durable with what is written next; at the latest by `settle`. */
export interface PaidCalls {
  /** How many wait to be recorded: they go before the next entry. */
  count(): number
  add(call: PaidCall): void
  /** Outside of a turn. */
  settle(): Promise<void>
}

/** The part of a log that is in memory. */
export interface LogState {
  readonly data: SessionData
  /** The messages of the conversation as it is now. Never changed in place. */
  readonly history: readonly Message[]
  /** The position of the last entry. */
  readonly position: number
  readonly times: { readonly createdAt: number; readonly updatedAt: number }
}

/** Everything that was said in one session, in memory or in the store as well. */
export interface SessionLog extends LogState {
  readonly id: SessionId
  readonly workspace: WorkspaceId
  readonly isKept: boolean
  readonly paid: PaidCalls
  /** While a turn runs: becomes durable with what the turn writes next. */
  amend(data: Partial<SessionData>): void
  /** Outside of a turn. */
  write(change: LogChange): Promise<void>
  /** Takes a turn from its first entries to its durable end. Rejects with what `take` throws. */
  turn(opening: TurnOpening): Promise<string>
  /** The last of what was said since the conversation began anew. */
  recall(options: RecallOptions): Promise<readonly SaidText[]>
  /** True if the record is later than this log: another process has gone on with the session. */
  isBehind(record: SessionRecord): boolean
  /** Reads again what others may have written. */
  refresh(): Promise<void>
}
