import { follow } from "../../base/follow.ts"
import { whenAborted } from "../../base/when-aborted.ts"
import type { AgentEvent } from "../../plugin/agent-event.ts"
import type { TaskId } from "../../task/id.ts"
import type { AgentEvents } from "../conversation/agent-emitter.ts"

const MOST_EVENTS = 10_000
const MOST_CHARACTERS = 4 * 1024 * 1024

export interface RecordedEvents extends AsyncIterable<AgentEvent> {
  /** Ends the record: whoever reads it comes to its end. */
  end(): void
}

/** Keeps the events of a turn from now on, so that everybody can read them from the first one. */
export function recordEvents(emitter: Pick<AgentEvents, "on">, turn: TaskId): RecordedEvents {
  const events: AgentEvent[] = []
  let characters = 0
  /** How many of the oldest were given up. */
  let dropped = 0
  let isOver = false
  let changed = Promise.withResolvers<void>()

  function wake(): void {
    changed.resolve()
    changed = Promise.withResolvers()
  }

  const unsubscribe = emitter.on((event) => {
    if (event.turn !== turn) return
    events.push(event)
    characters += lengthOf(event)
    while (events.length > MOST_EVENTS || (characters > MOST_CHARACTERS && events.length > 1)) {
      const [oldest] = events.splice(0, 1)
      if (oldest) characters -= lengthOf(oldest)
      dropped += 1
    }
    wake()
  })

  async function* read(signal: AbortSignal): AsyncGenerator<AgentEvent, void> {
    const left = whenAborted(signal)
    for (let next = 0; !signal.aborted; ) {
      next = Math.max(next, dropped)
      const event = events[next - dropped]
      if (event) {
        next += 1
        yield event
      } else if (isOver) {
        return
      } else {
        await Promise.race([changed.promise, left])
      }
    }
  }

  return {
    [Symbol.asyncIterator]: () => follow([], read),
    end() {
      unsubscribe()
      isOver = true
      wake()
    },
  }
}

function lengthOf(event: AgentEvent): number {
  return "text" in event ? event.text.length : 0
}
