import type { AgentEvent } from "../format/agent-event.ts"
import type { TaskId } from "../format/format.ts"

export interface HeldEventsOptions {
  readonly show: (event: AgentEvent) => void
  /** Announces the ends of tasks that a report is about; undefined: all were announced. */
  readonly tellEnds: (tasks: readonly TaskId[]) => Promise<void> | undefined
  /** Events that came before the chat listened. */
  readonly early: readonly AgentEvent[]
}

/**
 * Shows events in their order. Holds them back until the greeting (a turn of an earlier process goes on at once, and a
 * report may be due), and holds a report until the ends of its tasks are announced.
 */
export function createHeldEvents({ show, tellEnds, early }: HeldEventsOptions) {
  const held = [...early]
  let isHolding = true
  let shown = Promise.resolve()

  function showHeld(): void {
    isHolding = false
    for (let [event] = held; event && !isHolding; [event] = held) {
      const telling = event.type === "report.started" ? tellEnds(event.tasks.map(({ id }) => id)) : undefined
      if (telling) return hold(telling)
      showFirst()
    }
  }

  function hold(telling: Promise<void>): void {
    isHolding = true
    const goOn = (): void => {
      showFirst()
      showHeld()
    }
    shown = telling.then(goOn, goOn)
  }

  function showFirst(): void {
    const event = held.shift()
    if (event) show(event)
  }

  return {
    take(event: AgentEvent): void {
      held.push(event)
      if (!isHolding) showHeld()
    },
    /** Shows the held events, and from now on every event as it comes. */
    release: showHeld,
    /** Resolves when no event is held back by a report. */
    async allShown(): Promise<void> {
      for (let waited: Promise<void> | undefined; waited !== shown; ) {
        waited = shown
        await waited
      }
    },
  }
}
