import type { Usage } from "../../task/progress.ts"
import type { JsonValue } from "../../base/json.ts"
import type { TurnAccounting } from "../../plugin/agent-event.ts"
import type { GcConfig, GcPlugin } from "../../plugin/gc-plugin.ts"
import type { ConnectedModel } from "../../plugin/model.ts"
import type { ChildSpending } from "../../plugin/sessions-port.ts"
import type { SessionPlugin } from "../../plugin/session-plugin.ts"
import type { Execution } from "../../plugin/task-service.ts"
import type { TaskId } from "../../task/id.ts"
import type { AgentEmitter, AgentEvents } from "./agent-emitter.ts"
import type { SessionLog } from "../log/session-log.ts"

/** A session that is open in this process. */
export interface Conversation {
  readonly log: SessionLog
  readonly emitter: AgentEmitter & AgentEvents
  model: ConnectedModel
  gc: { readonly plugin: GcPlugin; readonly config: GcConfig } | null
  sessionPlugin: SessionPlugin | null
  readonly turns: TurnAccounting[]
  /** Plugins may keep something of it. */
  hasDocuments: boolean
  /** Documents of plugins, when the log is in memory. */
  readonly documents: Map<string, JsonValue>
  /** The turn that runs now. */
  current: { readonly abort: AbortController; taskId: TaskId | null; reason: string | null } | null
  /** Calls of the turn that runs which are in the foreground. */
  readonly executions: Set<Execution>
  /** Tasks whose events are passed on. */
  readonly watched: Set<TaskId>
  /** It may have tasks, or results that it has not used. One that was opened may have some from before. */
  hasTasks: boolean
  /** Something may have happened that its model has not been told: it looks at the next tool boundary. */
  hasNews: boolean
  /** Tells by itself what its tasks came to; null unless that is enabled. */
  reporter: Reporter | null
  /** Belongs to the current or the last turn: aborted when somebody says something new meanwhile. */
  newMessage: NewMessage
  /** Messages that wait for a turn that this process has not begun, in the order in which they were said. */
  readonly held: Set<HeldMessage>
  /** Messages that wait for their turn. */
  waitingMessages: number
  /** A command of the person asks them something. */
  openQuestions: number
  /** The call that a subagent works for pays as the subagent does. */
  onSpent: ChildSpending | null
  /** The budget of the turn that runs, which every model call spends from; null without a turn or a budget. */
  budget: { spend(usage: Usage): void } | null
  /** Turns, commands and other changes of the log, one after the other. */
  queue: Promise<unknown>
  /** How many of them there are, the one that runs included. */
  queued: number
}

/** One after the other, whatever becomes of those before. */
export function inTurn<Result>(conversation: Conversation, work: () => Promise<Result>): Promise<Result> {
  const done = conversation.queue.then(work)
  occupy(conversation, done)
  return done
}

/** Nothing else of the conversation begins before this is over. */
export function occupy(conversation: Conversation, work: Promise<unknown>): void {
  conversation.queued += 1
  const leave = (): void => {
    conversation.queued -= 1
    if (conversation.queued === 0) conversation.reporter?.lookAgain()
  }
  conversation.queue = work.then(leave, leave)
}

/** A message that waits for a turn that this process has not begun. */
export interface HeldMessage {
  /** Nobody says it any more. */
  withdraw(reason: Error): void
  /** Resolves when its own turn has begun, or never will. */
  readonly over: Promise<void>
}

/** Tells by itself what the tasks of one conversation came to, as soon as it is idle. */
export interface Reporter {
  /** Something may be there to tell. */
  wake(): void
  /** Nothing is going on in the conversation any more: what was due meanwhile is told now. */
  lookAgain(): void
  /** Resolves when no report is being made or due. */
  reported(signal?: AbortSignal): Promise<void>
  close(): void
}

/** Aborts when somebody says something new during the turn. Most turns never ask, so the signal is made on demand. */
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
