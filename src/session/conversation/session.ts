import type { AgentEvent, AgentListener, OutputMode, OutputSource, TurnAccounting } from "../../plugin/agent-event.ts"
import type { JsonObject } from "../../base/json.ts"
import type { AgentBudget } from "../../plugin/agent-request.ts"
import type { ContextUsage } from "../../plugin/context-usage.ts"
import type { GcConfig, GcPlugin } from "../../plugin/gc-plugin.ts"
import type { FilePart, Message } from "../../plugin/message.ts"
import type { SessionPlugin } from "../../plugin/session-plugin.ts"
import type { SessionState } from "../../plugin/sessions-port.ts"
import type { Trajectory } from "../../plugin/background-result.ts"
import type { CommandOutput } from "../../plugin/user-command.ts"
import type { OutputSchema } from "../../plugin/output-schema.ts"
import type { Tool } from "../../plugin/tool.ts"
import type { ConnectedModel, ModelTool } from "../../plugin/model.ts"
import type { SessionId, TaskId, WorkspaceId } from "../../task/id.ts"
import type { SessionMetadata } from "../../task/session.ts"
import type { RecallOptions, SaidText } from "../log/recall-said.ts"
import type { ModelSettings } from "./model-settings.ts"
import type { ReportOptions } from "./report-request.ts"

export interface SessionOptions extends ModelSettings {
  /** Default: a new one. */
  readonly id?: string
  /** Shown to people beside the agent's output. Default `main`. */
  readonly name?: string
  /** `provider/name`, or a model that is this session's own. Default: the runtime's. */
  readonly model?: string | ConnectedModel
  /**
   * Names of tools, of plugins for all of their tools, and tools that are this session's own. Default: all exposed tools.
   */
  readonly tools?: readonly (string | Tool)[]
  /** Part of the system prompt, beside the instructions of the configuration and of plugins. */
  readonly instructions?: string
  readonly workspace?: string
  readonly parent?: string | null
  /** Texts that are kept with the session, by key: `sessions.list` can be filtered by them. At most 16 keys. */
  readonly metadata?: SessionMetadata
}

/**
 * What a session was given as objects. No store keeps them: who opens the session in another process gives them again, or
 * its turns have the provider that the model's id names, and none of its own tools.
 */
export type OwnParts = Pick<SessionOptions, "model" | "tools">

export interface SendOptions extends ModelSettings {
  /** Stops the turn. What was said so far stays, and the conversation can go on. */
  readonly signal?: AbortSignal
  readonly files?: readonly FilePart[]
  /**
   * More that the model should know in this turn: told once, as data. `background_results`, `conversation_memory` and
   * `proactive_report` have places of their own in the prompt.
   */
  readonly context?: JsonObject
  /** Called with all that is said in this turn, by whom, and whether it continues the text before. */
  readonly onOutput?: (source: OutputSource, text: string, mode: OutputMode) => unknown
  /** The task below which the turn runs: for a subagent, the task that asked for it. */
  readonly parentTask?: string | null
  /** Tells the tasks and spans of one request from those of another. */
  readonly traceId?: string
  /** Names the turn in its workspace. A name that another turn has is refused as `wrong_state`. */
  readonly idempotencyKey?: string
  /** The person's own words in a longer message: shown to people, and used as the title. Default: the whole message. */
  readonly said?: string
  /**
   * Says what happens to the message while the session has a turn, here or in another process. Default `wait`: it is sent when
   * that turn has ended, behind the messages that were sent here before; the wait is in memory. `refuse`: it is refused as
   * `session_busy`. While that turn waits for a person, the message is refused either way.
   */
  readonly whenBusy?: "wait" | "refuse"
  /**
   * Says what happens to the message while the store takes no writes. Default `wait`: it is said when the store takes them
   * again, if that is within the patience of the runtime (`storeWait.patienceMs`). `refuse`: it is refused as
   * `store_unavailable` once the store is known to be away, which takes a second or two, and is not said later. A turn that
   * has begun waits either way.
   */
  readonly whenStoreAway?: "wait" | "refuse"
  /** The turn's budget. When it is used up, the model is asked once more, without tools, for what it has. */
  readonly budget?: AgentBudget
}

/** A message whose answer is a value. */
export interface TypedSendOptions<Output> extends SendOptions {
  /**
   * The schema of the value. The model is asked for it by its own JSON mode, or by a tool that it must call. An answer without
   * that form is sent back once, with what is wrong; a second one rejects as `output_invalid`, with the raw text in its details.
   */
  readonly output: OutputSchema<Output>
}

/** The result of a turn whose answer is a value. If the turn was stopped, `send` rejects as `closed` instead. */
export interface TypedTurnResult<Output> extends TurnResult {
  readonly output: Output
}

/** The message is the one that was said. */
export type RetryOptions = Omit<SendOptions, "context" | "files" | "said">

export interface CommandOptions {
  readonly signal?: AbortSignal
  /** Switches to another conversation for the command. Without this option, a command that wants to switch is refused. */
  readonly switchTo?: (id: SessionId) => Promise<void>
}

/** The result of a turn. A turn that failed has none: `send` and `result` reject instead. */
export interface TurnResult {
  readonly turn: TaskId
  readonly outcome: "completed" | "stopped"
  /** The last text of the model. */
  readonly text: string
  readonly accounting: TurnAccounting
}

/** A turn that has begun: its message and its record are stored. */
export interface Turn {
  /** In a session that is kept it names a task: `tasks.get`, `tasks.events` and `tasks.cancel` take it, in any process. */
  readonly id: TaskId
  /**
   * The turn's own events in this process, without those of its subagents. Every iteration begins with the first one, however
   * late, and ends with the turn. Of a very long turn only the newest are kept: a gap in `sequence` shows it.
   */
  readonly events: AsyncIterable<AgentEvent>
  /** Rejects if the turn fails, or goes on in another process. Nobody has to await it. */
  readonly result: Promise<TurnResult>
  /** Stops the turn. False if it does not run here any more. */
  stop(reason?: string): boolean
}

/**
 * One agent's conversation: its history, model, tools and accounts. Cheap: everything else belongs to the runtime. One turn
 * runs at a time. A message sent during a turn gets a turn of its own after it, whichever process has the first.
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
  /** Begins a turn. Resolves once the message and the turn are stored, before the model is heard. */
  start(message: string, options?: SendOptions): Promise<Turn>
  /**
   * Takes a last turn that failed, was stopped or was interrupted again, as another turn. The model sees every message once,
   * however often it is tried. Refused as `wrong_state` if the last turn has completed, or nothing was said.
   */
  retry(options?: RetryOptions): Promise<Turn>
  send<Output>(message: string, options: TypedSendOptions<Output>): Promise<TypedTurnResult<Output>>
  /** The result of the turn that `start` begins. */
  send(message: string, options?: SendOptions): Promise<TurnResult>
  /**
   * Stops the turn that runs here. If none runs, messages that wait here for another turn are given up and reject as
   * `closed`. True if there was either.
   */
  stop(reason?: string): boolean
  /** The messages that the model sees now. */
  history(): readonly Message[]
  /** The last texts of the person and the agent, without what the model was told beside them. */
  recall(options: RecallOptions): Promise<readonly SaidText[]>
  /** Results of the session's background tasks that it has not used yet. */
  readonly trajectory: Trajectory
  /** From now on the agent tells by itself what its background tasks came to. */
  enableReports(options?: ReportOptions): void
  disableReports(): void
  /**
   * Resolves when no report is being made or due: every result was told, or waits for the next message. Resolves at once if
   * reports are off. An abort of the signal ends the wait and stops nothing.
   */
  reported(signal?: AbortSignal): Promise<void>
  /**
   * Resolves when nothing of the session runs any more (its turn and the messages behind it, its live tasks, its agents with
   * theirs, reports) and everything was told that can be told without a person. Tasks that only a person's answer brings on,
   * and tasks of lifetime `forever`, are not waited for. An abort of the signal ends the wait and stops nothing.
   */
  settled(signal?: AbortSignal): Promise<void>
  /** Promotes the turn's calls that are in the foreground, as far as possible; returns their tasks. */
  promote(): Promise<readonly TaskId[]>
  /** The tools that the model is offered, as requests describe them. */
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
  /** Empties the history; the past stays in the log. */
  reset(): Promise<void>
  setGc(plugin: GcPlugin | null, config?: Partial<GcConfig>): void
  setSessionPlugin(plugin: SessionPlugin | null): Promise<void>
  on(listener: AgentListener): () => void
  /**
   * Closes this object: it takes nothing more, and its listeners hear nothing more. The conversation stays open for others that
   * have it open here. The last one to close it waits for the turn that runs, and stops tasks that live no longer than the session.
   */
  close(): Promise<void>
}
