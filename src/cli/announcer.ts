import type { Meanwhile } from "../app.ts"
import { formatEnd, plain, shortId, type TaskId } from "./format.ts"
import type { Screen } from "./screen.ts"

const LONG_MS = 24 * 60 * 60 * 1_000

/** Says when tasks end. */
export interface Announcer {
  /** Of a task that this program has started. */
  announceEnd(taskId: TaskId): void
  /** Announces the end of what was left running before this program started. */
  announceLeft(): Promise<void>
  /** Resolves when every task of this program has ended, or the signal aborts. What another copy runs is its own. */
  allEnded(signal: AbortSignal): Promise<void>
  /** How many tasks of this program have not ended. */
  count(): number
  close(): void
}

export function createAnnouncer(meanwhile: Meanwhile, screen: Screen): Announcer {
  const watched = new Map<TaskId, Promise<void>>()
  const startedHere = new Set<TaskId>()
  const closing = new AbortController()

  function own(): Promise<void>[] {
    return [...watched].flatMap(([id, ended]) => (startedHere.has(id) || meanwhile.tasks.runsHere(id) ? [ended] : []))
  }

  async function watch(taskId: TaskId): Promise<void> {
    while (!closing.signal.aborted) {
      const { task } = await meanwhile.tasks.result(taskId, { waitMs: LONG_MS, signal: closing.signal })
      if (closing.signal.aborted) return
      if (!("endedAt" in task)) continue
      screen.print(`[${shortId(task.id)}] ${formatEnd(task)}: ${plain(task.title)}`)
      return
    }
  }

  function announce(taskId: TaskId): void {
    if (watched.has(taskId)) return
    const watching = watch(taskId)
      .catch((error: unknown) => {
        if (!closing.signal.aborted)
          screen.print(`[${shortId(taskId)}] ${error instanceof Error ? error.message : String(error)}`)
      })
      .finally(() => watched.delete(taskId))
    watched.set(taskId, watching)
  }

  return {
    announceEnd(taskId) {
      startedHere.add(taskId)
      announce(taskId)
    },
    async announceLeft() {
      const { items } = await meanwhile.tasks.list({ statuses: ["queued", "running", "waiting", "stopping"] })
      if (items.length === 0) return
      screen.print(`${items.length === 1 ? "1 task goes" : `${items.length} tasks go`} on from before: see \`tasks\``)
      for (const { id } of items) announce(id)
    },
    async allEnded(signal) {
      const aborted = new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve(), { once: true })
      })
      while (own().length > 0 && !signal.aborted) await Promise.race([Promise.all(own()), aborted])
    },
    count: () => own().length,
    close: () => closing.abort(),
  }
}
