import type { JsonObject, JsonValue } from "../../base/json.ts"
import type { TaskId } from "../../task/id.ts"
import type { NoticeKey } from "../../task/notice.ts"
import type { Usage } from "../../task/progress.ts"
import type { AskingStep } from "../../task/record.ts"
import type { CommitOptions } from "../../task/store.ts"
import type { OnCrash, Step } from "../../task/step.ts"
import type { LogEntry } from "./log-entry.ts"
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
