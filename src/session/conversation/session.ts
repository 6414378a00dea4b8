import type { AgentListener, OutputMode, OutputSource, TurnAccounting } from "../../plugin/agent-event.ts"
import type { JsonObject } from "../../base/json.ts"
import type { AgentBudget } from "../../plugin/agent-request.ts"
import type { ContextUsage } from "../../plugin/context-usage.ts"
import type { GcConfig, GcPlugin } from "../../plugin/gc-plugin.ts"
import type { FilePart, Message } from "../../plugin/message.ts"
import type { SessionPlugin } from "../../plugin/session-plugin.ts"
import type { SessionState } from "../../plugin/sessions-port.ts"
import type { Trajectory } from "../../plugin/background-result.ts"
import type { CommandOutput } from "../../plugin/user-command.ts"
import type { ModelTool } from "../../plugin/model.ts"
import type { SessionId, TaskId, WorkspaceId } from "../../task/id.ts"
import type { RecallOptions, SaidText } from "../log/recall-said.ts"
import type { ReportOptions } from "./report-request.ts"

export interface SessionOptions {
  /** Default: a new one. */
  readonly id?: SessionId
  /** Shown to people beside what it says. Default `main`. */
  readonly name?: string
  /** `provider/name`. Default: the runtime's. */
  readonly model?: string
  /** Names of tools, or of plugins for all of theirs. Default: all that are exposed. */
  readonly tools?: readonly string[]
  /** Put before the model beside what the plugins say. */
  readonly instructions?: string
  readonly workspace?: WorkspaceId
  readonly parent?: SessionId | null
}

export interface SendOptions {
  /** Stops the turn. What was said so far stays, and the conversation can go on. */
  readonly signal?: AbortSignal
  readonly files?: readonly FilePart[]
  /**
   * More that the model should know in this turn: told once, as data. `background_results`, `conversation_memory` and
   * `proactive_report` have places of their own in it.
   */
  readonly context?: JsonObject
  /** All that is said in this turn, by whom, and whether it continues what came before. */
  readonly onOutput?: (source: OutputSource, text: string, mode: OutputMode) => void
  /** The task below which the turn runs: that of a subagent's parent. */
  readonly parentTask?: TaskId | null
  /** Tells the tasks and spans of one request from another. */
  readonly traceId?: string
  /** Names the turn in its workspace: refused as `wrong_state` when there is one of that name. */
  readonly idempotencyKey?: string
  /** The person's own words in a longer message: shown to people, and used as the title. Default: the whole message. */
  readonly said?: string
  /**
   * While another process has the turn of the session. Default `wait`: it is said when that has ended. A turn that waits for a
   * person refuses it either way, as `session_busy`.
   */
  readonly whenBusyElsewhere?: "wait" | "refuse"
  /** The turn's budget. When it is used up, the model is asked once more, without tools, for what it has. */
  readonly budget?: AgentBudget
}

export interface CommandOptions {
  readonly signal?: AbortSignal
  /** Lets the command go on with another conversation. Without it, it is refused. */
  readonly switchTo?: (id: SessionId) => Promise<void>
}

/** How a turn came out. One that failed rejects `send` instead. */
export interface TurnResult {
  readonly turn: TaskId | null
  readonly outcome: "completed" | "stopped"
  /** The last text of the model. */
  readonly text: string
  readonly accounting: TurnAccounting
}

/**
 * One agent's conversation: its history, model, tools and accounts. Cheap: everything else belongs to the runtime. One
 * turn at a time; a message sent during a turn has its own when that has ended, whichever process has it.
 */
export interface Session extends AsyncDisposable {
  readonly id: SessionId
  readonly name: string
  readonly workspace: WorkspaceId
  readonly parent: SessionId | null
  /** `provider/name`. */
  readonly model: string
  /** True while a turn runs here. */
  readonly isBusy: boolean
  /** Goes on with another model, of any provider, from the next model call on. */
  useModel(model: string): Promise<void>
  send(message: string, options?: SendOptions): Promise<TurnResult>
  /**
   * Stops the turn that runs here. Without one, what waits here for the turn of another process is not said any more, and
   * rejects as `closed`. True when there was either.
   */
  stop(reason?: string): boolean
  /** The messages that the model sees now. */
  history(): readonly Message[]
  /** The last of what the person and the agent said to each other, without what the model was told beside it. */
  recall(options: RecallOptions): Promise<readonly SaidText[]>
  /** Results of its background tasks that it has not used yet. */
  readonly trajectory: Trajectory
  /** From now on the agent tells by itself what its background tasks came to. */
  enableReports(options?: ReportOptions): void
  disableReports(): void
  /**
   * Resolves when no report is being made or due: whatever has ended was told, or waits for the next message. With reports
   * off at once. The signal gives up without stopping anything.
   */
  reported(signal?: AbortSignal): Promise<void>
  /** Moves what runs in the foreground of the turn to the background, as far as it can be; returns those tasks. */
  promote(): Promise<readonly TaskId[]>
  /** The tools the model is offered, as it is told of them. */
  tools(): readonly ModelTool[]
  contextUsage(): ContextUsage
  /** The newest 1,000 turns of this process, oldest first. */
  turns(): readonly TurnAccounting[]
  /** The conversation as a plugin saves it. */
  state(): Promise<SessionState>
  /** Runs a user command of a plugin by its name, and tells the model of it when the command says so. */
  runCommand(name: string, argument?: string, options?: CommandOptions): Promise<CommandOutput>
  /** Makes room in the context now, whether it is due or not. */
  collect(reason?: string): Promise<string>
  /** Begins anew: the history is empty, the past stays in the record. */
  reset(): Promise<void>
  setGc(plugin: GcPlugin | null, config?: Partial<GcConfig>): void
  setSessionPlugin(plugin: SessionPlugin | null): Promise<void>
  on(listener: AgentListener): () => void
  /** Waits for the turn that runs; what lives no longer than the session is stopped. */
  close(): Promise<void>
}
