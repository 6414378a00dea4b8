import type { JsonObject } from "../../base/json.ts"
import type { Message } from "../../plugin/message.ts"
import type { SessionId, TaskId, WorkspaceId } from "../../task/id.ts"
import type { SessionRecord } from "../../task/session.ts"
import type { PaidCall } from "./log-entry.ts"
import type { LogChange, OpenTurn } from "./open-turn.ts"
import type { RecallOptions, SaidText } from "./recall-said.ts"
import type { SessionData } from "./session-data.ts"

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

/** Everything that was said in one session, in memory or in the store as well. */
export interface SessionLog {
  readonly id: SessionId
  readonly workspace: WorkspaceId
  readonly isKept: boolean
  readonly data: SessionData
  /** The messages of the conversation as it is now. Never changed in place. */
  readonly history: readonly Message[]
  /** The position of the last entry. */
  readonly position: number
  readonly times: { readonly createdAt: number; readonly updatedAt: number }
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
