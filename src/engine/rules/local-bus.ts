import type { Bus, Wake } from "../../task/bus.ts"
import type { TaskId } from "../../task/id.ts"

export interface LocalBus extends Bus {
  publish(wakes: readonly Wake[]): void
  /** Another process may have written anything: every listener looks again. */
  publishUnknown(): void
}

/** Wakes listeners of this process. A listener that throws does not keep the others from being woken. */
export function createLocalBus(onSubscription: (by: 1 | -1) => void): LocalBus {
  const listeners = new Set<(wake: Wake) => void>()
  const taskListeners = new Map<TaskId, Set<(mayBeOver: boolean) => void>>()

  function publish(wake: Wake): void {
    for (const listener of listeners) callSafely(listener, wake)
    if (wake.about !== "task") return
    for (const listener of taskListeners.get(wake.taskId) ?? []) callSafely(listener, !wake.isLive)
  }

  return {
    publish: (wakes) => wakes.forEach(publish),
    publishUnknown() {
      publish({ about: "unknown" })
      for (const ofTask of taskListeners.values()) for (const listener of ofTask) callSafely(listener, true)
    },
    subscribe: (listener) => addTo(listeners, (wake: Wake) => listener(wake), onSubscription),
    subscribeTask(id, listener) {
      const ofTask = taskListeners.get(id) ?? new Set()
      taskListeners.set(id, ofTask)
      const remove = addTo(ofTask, (mayBeOver: boolean) => listener(mayBeOver), onSubscription)
      return () => {
        remove()
        if (ofTask.size === 0 && taskListeners.get(id) === ofTask) taskListeners.delete(id)
      }
    },
  }
}

/** Adds a listener that is counted once and removed once, however often its remover is called. */
export function addTo<Listener>(
  listeners: Set<Listener>,
  listener: Listener,
  onSubscription: (by: 1 | -1) => void,
): () => void {
  listeners.add(listener)
  onSubscription(1)
  return () => {
    if (listeners.delete(listener)) onSubscription(-1)
  }
}

/** A listener's error surfaces as an uncaught error, and not in the middle of the commit that woke the listener. */
export function callSafely<Told extends readonly unknown[]>(listener: (...told: Told) => void, ...told: Told): void {
  try {
    listener(...told)
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
