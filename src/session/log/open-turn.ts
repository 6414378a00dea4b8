import type { JsonValue } from "../../base/json.ts"
import type { TaskId } from "../../task/id.ts"
import type { AskingStep } from "../../task/record.ts"
import type { OnCrash, Step } from "../../task/step.ts"
import type { LogEntry } from "./log-entry.ts"
import type { SessionData } from "./session-data.ts"

export interface LogChange {
  readonly entries: readonly LogEntry[]
  readonly data?: Partial<SessionData>
}

/** What a turn writes in one transaction. */
export interface TurnChange extends LogChange {
  readonly started?: readonly { readonly key: string; readonly onCrash: OnCrash }[]
  readonly finished?: readonly { readonly key: string; readonly result: JsonValue }[]
  readonly spent?: { readonly tokens: number; readonly costMicros: number }
}

/** A turn that has begun, kept or not. */
export interface OpenTurn {
  /** Null in a session that is not kept. */
  readonly taskId: TaskId | null
  readonly signal: AbortSignal
  readonly traceId: string
  /** The task of the call that asked for it, of a subagent's turn. */
  readonly askedBy: TaskId | null
  /** The task below which its calls run. */
  readonly callParent: TaskId | null
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
  /** The history has it at once; resolves when it is durable. Changes are durable in the order of the calls. */
  save(change: TurnChange): Promise<void>
  /** Becomes durable with the turn's end, whatever that is. */
  finish(change: LogChange): void
}
