import type { Usage } from "../../task/progress.ts"
import type { JsonValue } from "../../base/json.ts"
import type { TurnAccounting } from "../../plugin/agent-event.ts"
import type { GcConfig, GcPlugin } from "../../plugin/gc-plugin.ts"
import type { ConnectedModel } from "../../plugin/model.ts"
import type { ChildSpending } from "../../plugin/sessions-port.ts"
import type { SessionPlugin } from "../../plugin/session-plugin.ts"
import type { Execution } from "../../plugin/task-service.ts"
import type { TaskId } from "../../task/id.ts"
import type { AgentEmitter, NumberedTurn } from "./agent-emitter.ts"
import type { SessionLog } from "../log/session-log.ts"

/** A session that is open in this process. */
export interface Conversation {
  readonly log: SessionLog
  readonly emitter: AgentEmitter
  model: ConnectedModel
  gc: { readonly plugin: GcPlugin; readonly config: GcConfig } | null
  sessionPlugin: SessionPlugin | null
  readonly turns: TurnAccounting[]
  readonly documents: PluginDocuments
  current: RunningTurn | null
  /** How many session objects hold it open. It is closed with the last of them. */
  handles: number
  /** Tasks whose events are passed on. */
  readonly watched: Set<TaskId>
  /** True if the session may have tasks or unused results, also from before it was opened here. */
  hasTasks: boolean
  /** True if something may have happened that the model has not been told. The turn looks at its next tool boundary. */
  hasNews: boolean
  /** Null unless reports are enabled. */
  reporter: Reporter | null
  readonly messages: WaitingMessages
  /** Charges what a subagent spends to the call that it works for. */
  onSpent: ChildSpending | null
  readonly queue: WorkQueue
}

/** The turn that runs now. */
export interface RunningTurn extends NumberedTurn {
  readonly abort: AbortController
  id: TaskId | null
  /** Null until the turn has begun, and in a session that is not kept. */
  taskId: TaskId | null
  /** Set once somebody has stopped the turn. */
  reason: string | null
  /** Its calls that are in the foreground. */
  readonly executions: Set<Execution>
  /** Every model call spends from it; null without a budget. */
  budget: { spend(usage: Usage): void } | null
}

/** Messages that were sent and whose turn has not begun. */
export interface WaitingMessages {
  count: number
  /** Messages that wait for a turn not begun here, in the order in which they were sent. */
  readonly held: Set<HeldMessage>
  /** Belongs to the current or the last turn, and aborts when somebody says something new meanwhile. */
  newMessage: NewMessage
}

/** Turns, commands and other changes of the log, one after the other. */
export interface WorkQueue {
  /** Resolves when all work in the queue is over. */
  done: Promise<unknown>
  /** How many pieces of work there are, the one that runs included. */
  length: number
  /** Questions of the person's own commands that nobody has answered yet. */
  openQuestions: number
}

/** Documents that plugins keep with the conversation. */
export interface PluginDocuments {
  /** False if there is certainly no document: then none is read. */
  mayExist: boolean
  /** The documents themselves, when the log is in memory. */
  readonly inMemory: Map<string, JsonValue>
}

/** A signal that never aborts. */
export const NEVER: AbortSignal = new AbortController().signal

/** Records that a turn runs from now on. Messages that wait already count as new to it. */
export function noteRunning(conversation: Conversation, taskId: TaskId | null): RunningTurn {
  const { messages } = conversation
  const running: RunningTurn = {
    abort: new AbortController(),
    id: taskId,
    taskId,
    sequence: 0,
    reason: null,
    executions: new Set(),
    budget: null,
  }
  conversation.current = running
  messages.newMessage = createNewMessage()
  if (messages.count > 0) messages.newMessage.abort()
  return running
}

/** Does the work after all earlier work of the conversation, even if that failed. */
export function inTurn<Result>(conversation: Conversation, work: () => Promise<Result>): Promise<Result> {
  const done = conversation.queue.done.then(work)
  occupy(conversation, done)
  return done
}

/** No other work of the conversation begins before this is over. */
export function occupy(conversation: Conversation, work: Promise<unknown>): void {
  const { queue } = conversation
  queue.length += 1
  const leave = (): void => {
    queue.length -= 1
    if (queue.length === 0) conversation.reporter?.lookAgain()
  }
  queue.done = work.then(leave, leave)
}

/** A message that waits for a turn that this process has not begun. */
export interface HeldMessage {
  /** Gives the message up: its `send` rejects with the reason. */
  withdraw(reason: Error): void
  /** Resolves when the message's own turn has begun, or never will. */
  readonly over: Promise<void>
}

/** Reports what the tasks of one conversation came to, as soon as the conversation is idle. */
export interface Reporter {
  /** Called when there may be something to report. */
  wake(): void
  /** Called when the conversation is idle again: what came due meanwhile is reported now. */
  lookAgain(): void
  /** Resolves when no report is being made or due. */
  reported(signal?: AbortSignal): Promise<void>
  close(): void
}

/** Aborts when somebody says something new during the turn. Few turns read the signal, so it is made on demand. */
interface NewMessage {
  readonly signal: AbortSignal
  abort(): void
}

export function createNewMessage(): NewMessage {
  return new LazySignal()
}

/** A class: the getters of an object literal would keep every turn in memory until the next full garbage collection. */
class LazySignal implements NewMessage {
  #controller: AbortController | undefined
  #isAborted = false

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#isAborted) this.#controller.abort()
    }
    return this.#controller.signal
  }

  abort(): void {
    this.#isAborted = true
    this.#controller?.abort()
  }
}
