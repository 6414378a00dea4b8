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
  const listeners = new Set<AgentListener>()
  return {
    get isHeard() {
      return listeners.size > 0
    },
    send: (event) => tell(listeners, event, log),
    on(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

export function createAgentEmitter(agent: SessionId, parent: AgentEvents, log: Log): AgentEmitter & AgentEvents {
  const own = createAgentEvents(log)
  const send = (event: AgentEvent): void => {
    own.send(event)
    parent.send(event)
  }
  return {
    get isHeard() {
      return own.isHeard || parent.isHeard
    },
    emit: (event) => send({ ...event, agent }),
    send,
    on: (listener) => own.on(listener),
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
