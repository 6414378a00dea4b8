import type { Clock } from "../../base/clock.ts"
import { lookUntil } from "../../base/look-until.ts"
import type { Bus } from "../../task/bus.ts"
import type { TaskEvent } from "../../task/event.ts"
import type { TaskId } from "../../task/id.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { TaskStore } from "../../task/store.ts"

const PAGE_SIZE = 100

export interface EventSource {
  readonly store: Pick<TaskStore, "events" | "task">
  readonly bus: Pick<Bus, "subscribeTask">
  readonly clock: Clock
  /** Wake-ups may be lost: after so long the store is read in any case. */
  readonly pollMs: number
  /** True: the reading ends, although the task has not. Asked before every look. */
  readonly isLeft?: () => boolean
  /** Default false. */
  readonly keepsProcessAlive?: boolean
}

/**
 * The events of a task after a sequence number, each once and in order, from whichever process. Ends when its last run has
 * ended and all of its events were read, when the task was removed, and when the signal aborts.
 */
export async function* followEvents(
  source: EventSource,
  taskId: TaskId,
  after: number,
  signal?: AbortSignal,
): AsyncGenerator<TaskEvent, void> {
  const { store, bus, clock, pollMs, keepsProcessAlive = false } = source
  let sequence = after

  /** An empty page is the end. */
  async function look(): Promise<readonly TaskEvent[] | undefined> {
    for (;;) {
      if (source.isLeft?.()) return []
      const events = await store.events(taskId, sequence, PAGE_SIZE)
      if (events.length > 0) return events
      const task = await store.task(taskId)
      if (!task) return []
      // An event that came between the two reads is read at once: nobody may wake this again for it.
      if (task.lastSequence <= sequence) return isTerminal(task.status) ? [] : undefined
    }
  }

  for (;;) {
    const subscribe = (wake: () => void) => bus.subscribeTask(taskId, wake)
    const events = await lookUntil({ clock, pollMs, keepsProcessAlive, signals: [signal], subscribe, look })
    if (!events || events.length === 0) return
    for (const event of events) {
      sequence = event.sequence
      yield event
    }
  }
}
