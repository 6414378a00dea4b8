import type { JsonObject, JsonValue } from "../../base/json.ts"
import type { Act } from "../../plugin/context.ts"
import type { Message } from "../../plugin/message.ts"
import type { SessionId, TaskId, WorkspaceId } from "../../task/id.ts"
import type { NoticeKey } from "../../task/notice.ts"
import type { Usage } from "../../task/progress.ts"
import type { AskingStep } from "../../task/record.ts"
import type { SessionLabels, SessionRecord } from "../../task/session.ts"
import type { OnCrash, Step } from "../../task/step.ts"
import type { CommitOptions } from "../../task/store.ts"
import type { LogEntry, PaidCall } from "./log-entry.ts"
import type { RecallOptions, SaidText } from "./recall-said.ts"
import type { SessionData } from "./session-data.ts"

export interface LogChange {
  readonly entries: readonly LogEntry[]
  readonly data?: Partial<SessionData>
  /** Has no effect in a session that is not kept: there `usePending` has done it before. */
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
  /** True if the conversation holds the step's answer: then the results that the step claimed are used. */
  readonly settlesClaims?: true
}

/** A turn that has begun, kept or not. */
export interface OpenTurn {
  readonly id: TaskId
  /** The task that the turn is. Null in a session that is not kept. */
  readonly taskId: TaskId | null
  readonly signal: AbortSignal
  readonly traceId: string
  /** The task that asked for a subagent's turn; null for any other turn. */
  readonly askedBy: TaskId | null
  /** The metadata that the turn was begun with. */
  readonly metadata: JsonObject
  /** True if the turn goes on after a crash or a shutdown: then its first entries are in the log. */
  readonly isContinued: boolean
  /** True at a shutdown: unfinished work is left for the worker that claims the turn next. */
  isHandedBack(): boolean
  stopReason(): string | null
  /** Names a step as the one that asks for a task; undefined in a session that is not kept. */
  askingStep(key: string): AskingStep | undefined
  steps(): Promise<readonly Step[]>
  /** Every effect of the turn begins in it: the call of the model, and the call of a tool. */
  readonly act: Act
  /** True if an effect may begin now, in the same synchronous stretch: for each piece of a streamed answer. */
  mayAct(): boolean
  /**
   * Adds the change to the history at once, and resolves when it is committed. Changes are durable in the order of the
   * calls.
   */
  save(change: TurnChange, options?: CommitOptions): Promise<void>
  /** Saves without waiting, so that the model can be asked meanwhile. `settle` rejects if a save failed. */
  saveSoon(change: TurnChange, options?: CommitOptions): void
  /** Resolves once everything saved so far is durable. Called before an effect that must not happen otherwise. */
  settle(): Promise<void>
  /** The change is committed together with the turn's end, however the turn ends. */
  finish(change: LogChange & Pick<TurnChange, "spent">): void
}

export interface TurnBeginning extends LogChange {
  /** For a turn that nobody asked for: replaces the opening's title, and does not become the session's title. */
  readonly title?: string
  /** Added to the opening's metadata. */
  readonly metadata?: JsonObject
}

export interface TurnOpening {
  /**
   * Called before `toBeginning`, after the log was read from the store. Undefined if there is nothing to wait for: then the
   * log is not read again.
   */
  readonly prepare?: () => Promise<void> | undefined
  /**
   * Returns the first entries of the turn, which are written in one transaction with its record. Gets the history that they
   * follow, read after every wait: another process may have changed it before. If it throws, `turn` rejects with that error
   * and nothing is written.
   */
  readonly toBeginning: (history: readonly Message[]) => Promise<TurnBeginning>
  /** One line for people. */
  readonly title: string
  readonly parentTask: TaskId | null
  readonly traceId: string
  /**
   * Names the turn. A name that another turn has is refused as `wrong_state`. Has no effect in a session that is not kept.
   */
  readonly idempotencyKey?: string
  /** How the turn's beginning is committed. Default: it waits for a store that is away. */
  readonly whenAway?: CommitOptions["whenAway"]
  /** Metadata for the worker that continues the turn after a crash. */
  readonly metadata?: JsonObject
  /** Stops the turn of a session that is not kept. In a kept session the turn's run does that. */
  readonly current: { readonly abort: AbortController; readonly reason: string | null }
  /** Takes the turn, once it has begun. */
  readonly take: (turn: OpenTurn) => Promise<string>
  /** Called with the turn's id before `take`. */
  readonly onBegun?: (turn: TaskId) => void
  /**
   * Called with the turn's id as soon as the first entries and the turn are stored, once. Given: they are on disk by then,
   * because the caller tells others of the turn.
   */
  readonly onStored?: (turn: TaskId) => void
}

/** Model calls that leave no message. They are written with the next change, or by `settle` if none comes. */
export interface PaidCalls {
  /** The number of calls that are not written yet. They are written before the next entry. */
  count(): number
  add(call: PaidCall): void
  /** Writes the waiting calls. Does nothing while a turn holds the session. */
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
  /** True if nothing of it is in the store or on the way there. */
  isNew(): boolean
  labels(): SessionLabels
  /** Notes other labels: those that were stored, or those that a session begins with once it is. */
  relabel(labels: SessionLabels): void
  /** For use during a turn: the data are written with the turn's next change. */
  amend(data: Partial<SessionData>): void
  /** Writes a change outside a turn. A kept session refuses it as `session_busy` while a turn holds it. */
  write(change: LogChange): Promise<void>
  /** Takes a turn from its first entries to its durable end. Rejects with what `take` throws. */
  turn(opening: TurnOpening): Promise<string>
  /** The last texts of the person and the agent since the last reset. */
  recall(options: RecallOptions): Promise<readonly SaidText[]>
  /** True if the record is later than this log: another process has gone on with the session. */
  isBehind(record: SessionRecord): boolean
  /** Reads what other processes have written since. */
  refresh(): Promise<void>
}
