import type { AgentEvent } from "../view/agent-event.ts"

/** What agents do before a person was greeted: a turn of an earlier process goes on at once, and a report may be due. */
export interface HeldEvents {
  take(event: AgentEvent): void
  /** Hands on what was held, and from now on everything as it comes. */
  release(): void
}

export function createHeldEvents(show: (event: AgentEvent) => void, early: readonly AgentEvent[]): HeldEvents {
  let held: AgentEvent[] | null = [...early]
  return {
    take(event) {
      if (held) held.push(event)
      else show(event)
    },
    release() {
      const events = held ?? []
      held = null
      for (const event of events) show(event)
    },
  }
}
