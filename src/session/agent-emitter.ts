import { toErrorMessage } from "../base/error.ts"
import type { AgentEvent, AgentEventBody, AgentListener } from "../plugin/agent-event.ts"
import type { Log } from "../plugin/context.ts"
import type { SessionId } from "../task/id.ts"

/** Tells the listeners of one session, then those of everything above it. */
export interface AgentEmitter {
  /** False while nobody listens: then events need not be made. */
  readonly isHeard: boolean
  emit(event: AgentEventBody): void
  on(listener: AgentListener): () => void
}

/** Where the events of all sessions arrive. */
export interface AgentEvents {
  readonly isHeard: boolean
  send(event: AgentEvent): void
  on(listener: AgentListener): () => void
}

export function createAgentEvents(log: Log): AgentEvents {
  return new Listeners(log)
}

export function createAgentEmitter(agent: SessionId, parent: AgentEvents, log: Log): AgentEmitter & AgentEvents {
  return new Emitter(agent, new Listeners(log), parent)
}

/** Classes: the getters of an object literal would keep every session in memory until the next full garbage collection. */
class Listeners implements AgentEvents {
  readonly #listeners = new Set<AgentListener>()
  readonly #log: Log

  constructor(log: Log) {
    this.#log = log
  }

  get isHeard(): boolean {
    return this.#listeners.size > 0
  }

  send(event: AgentEvent): void {
    tell(this.#listeners, event, this.#log)
  }

  on(listener: AgentListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

class Emitter implements AgentEmitter, AgentEvents {
  readonly #agent: SessionId
  readonly #own: AgentEvents
  readonly #parent: AgentEvents

  constructor(agent: SessionId, own: AgentEvents, parent: AgentEvents) {
    this.#agent = agent
    this.#own = own
    this.#parent = parent
  }

  get isHeard(): boolean {
    return this.#own.isHeard || this.#parent.isHeard
  }

  emit(event: AgentEventBody): void {
    this.send({ ...event, agent: this.#agent })
  }

  send(event: AgentEvent): void {
    this.#own.send(event)
    this.#parent.send(event)
  }

  on(listener: AgentListener): () => void {
    return this.#own.on(listener)
  }
}

/** A listener that throws costs nobody their turn. */
function tell(listeners: ReadonlySet<AgentListener>, event: AgentEvent, log: Log): void {
  for (const listener of listeners) {
    try {
      listener(event)
    } catch (error) {
      log.warn("a listener failed", { event: event.type, error: toErrorMessage(error) })
    }
  }
}
