import { toErrorMessage } from "../../base/error.ts"
import type { AgentEvent, AgentEventBody, AgentListener } from "../../plugin/agent-event.ts"
import type { Log } from "../../plugin/context.ts"
import type { SessionId } from "../../task/id.ts"

type EventType = AgentEventBody["type"]

/** Where the events of sessions arrive. */
export interface AgentEvents {
  /** False while nobody listens for it: then it need not be made. */
  hears(type: EventType): boolean
  send(event: AgentEvent): void
  on(listener: AgentListener): () => void
}

/** Tells the listeners of one session, then those of everything above it. */
export interface AgentEmitter extends AgentEvents {
  emit(event: AgentEventBody): void
  /** Hears only what is said. */
  onOutput(listener: AgentListener): () => void
}

export function createAgentEvents(log: Log): AgentEvents {
  return new Listeners(log)
}

/** Above is looked up anew each time: after a restart a subagent may go on before its parent is opened. */
export function createAgentEmitter(agent: SessionId, above: () => AgentEvents, log: Log): AgentEmitter {
  return new Emitter(agent, above, log)
}

const OUTPUT: ReadonlySet<EventType> = new Set(["content.delta", "content.reset", "agent.output"])

class Listeners implements AgentEvents {
  readonly #ofAll = new Set<AgentListener>()
  readonly #ofOutput = new Set<AgentListener>()
  readonly #log: Log

  constructor(log: Log) {
    this.#log = log
  }

  hears(type: EventType): boolean {
    return this.#ofAll.size > 0 || (this.#ofOutput.size > 0 && OUTPUT.has(type))
  }

  send(event: AgentEvent): void {
    tell(this.#ofAll, event, this.#log)
    if (OUTPUT.has(event.type)) tell(this.#ofOutput, event, this.#log)
  }

  on(listener: AgentListener): () => void {
    this.#ofAll.add(listener)
    return () => this.#ofAll.delete(listener)
  }

  onOutput(listener: AgentListener): () => void {
    this.#ofOutput.add(listener)
    return () => this.#ofOutput.delete(listener)
  }
}

class Emitter extends Listeners implements AgentEmitter {
  readonly #agent: SessionId
  readonly #above: () => AgentEvents

  constructor(agent: SessionId, above: () => AgentEvents, log: Log) {
    super(log)
    this.#agent = agent
    this.#above = above
  }

  override hears(type: EventType): boolean {
    return super.hears(type) || this.#above().hears(type)
  }

  emit(event: AgentEventBody): void {
    if (this.hears(event.type)) this.send({ ...event, agent: this.#agent })
  }

  override send(event: AgentEvent): void {
    super.send(event)
    this.#above().send(event)
  }
}

/** A listener that throws, or whose promise rejects, costs nobody their turn, and does not end the program. */
function tell(listeners: ReadonlySet<(event: AgentEvent) => unknown>, event: AgentEvent, log: Log): void {
  const warn = (error: unknown): void =>
    log.warn("a listener failed", { event: event.type, error: toErrorMessage(error) })
  for (const listener of listeners) {
    try {
      const returned = listener(event)
      if (returned instanceof Promise) returned.catch(warn)
    } catch (error) {
      warn(error)
    }
  }
}
