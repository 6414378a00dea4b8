import { toErrorMessage } from "../../base/error.ts"
import { toHarmless } from "../../base/harmless.ts"
import type { AgentEvent, AgentEventBody, PlaceInTurn, WorkspaceAgentListener } from "../../plugin/agent-event.ts"
import type { Log } from "../../plugin/context.ts"
import type { SessionId, TaskId, WorkspaceId } from "../../task/id.ts"

type EventType = AgentEventBody["type"]

/** Where the events of sessions arrive. */
export interface AgentEvents {
  /** False while nobody listens for events of this type: then they need not be made. */
  hears(type: EventType): boolean
  send(event: AgentEvent, workspace: WorkspaceId): void
  on(listener: WorkspaceAgentListener): () => void
}

/** Tells the listeners of one session, then those of everything above it. */
export interface AgentEmitter extends AgentEvents {
  emit(event: AgentEventBody): void
  /** Listens to output only. */
  onOutput(listener: WorkspaceAgentListener): () => void
}

export function createAgentEvents(log: Log): AgentEvents {
  return new Listeners(log)
}

/** `above` is called for every event: after a restart a subagent may go on before its parent is opened. */
export function createAgentEmitter(agent: Agent, above: () => AgentEvents, log: Log): AgentEmitter {
  return new Emitter(agent, above, log)
}

interface Agent {
  readonly id: SessionId
  readonly workspace: WorkspaceId
  /** The turn that runs now, if there is one. */
  readonly turn: () => NumberedTurn | null
}

/** A turn as the source of events. */
export interface NumberedTurn {
  /** Null until the turn has begun. */
  readonly id: TaskId | null
  /** The number of its last event. */
  sequence: number
}

const NOWHERE: PlaceInTurn = {}

/** Events of the agent, whatever turn runs meanwhile. */
const BESIDE_TURNS: ReadonlySet<EventType> = new Set([
  "agent.created",
  "agent.completed",
  "task.changed",
  "notification.shown",
])

const OUTPUT: ReadonlySet<EventType> = new Set(["content.delta", "content.reset", "agent.output"])

class Listeners implements AgentEvents {
  readonly #ofAll = new Set<WorkspaceAgentListener>()
  readonly #ofOutput = new Set<WorkspaceAgentListener>()
  readonly #log: Log

  constructor(log: Log) {
    this.#log = log
  }

  hears(type: EventType): boolean {
    return this.#ofAll.size > 0 || (this.#ofOutput.size > 0 && OUTPUT.has(type))
  }

  send(event: AgentEvent, workspace: WorkspaceId): void {
    for (const listener of this.#ofAll) listener(event, workspace)
    if (OUTPUT.has(event.type)) for (const listener of this.#ofOutput) listener(event, workspace)
  }

  on(listener: WorkspaceAgentListener): () => void {
    return this.#add(this.#ofAll, listener)
  }

  onOutput(listener: WorkspaceAgentListener): () => void {
    return this.#add(this.#ofOutput, listener)
  }

  /** A listener that fails does no harm to a turn, to the program and to other listeners. */
  #add(listeners: Set<WorkspaceAgentListener>, listener: WorkspaceAgentListener): () => void {
    const harmless = toHarmless(listener, (error, { type }) =>
      this.#log.warn("a listener failed", { event: type, error: toErrorMessage(error) }),
    )
    listeners.add(harmless)
    return () => listeners.delete(harmless)
  }
}

class Emitter extends Listeners implements AgentEmitter {
  readonly #agent: Agent
  readonly #above: () => AgentEvents

  constructor(agent: Agent, above: () => AgentEvents, log: Log) {
    super(log)
    this.#agent = agent
    this.#above = above
  }

  override hears(type: EventType): boolean {
    return super.hears(type) || this.#above().hears(type)
  }

  emit(event: AgentEventBody): void {
    if (!this.hears(event.type)) return
    this.send({ ...event, agent: this.#agent.id, ...this.#place(event.type) }, this.#agent.workspace)
  }

  #place(type: EventType): PlaceInTurn {
    const turn = BESIDE_TURNS.has(type) ? null : this.#agent.turn()
    if (!turn?.id) return NOWHERE
    turn.sequence += 1
    return { turn: turn.id, sequence: turn.sequence }
  }

  override send(event: AgentEvent, workspace: WorkspaceId): void {
    super.send(event, workspace)
    this.#above().send(event, workspace)
  }
}
