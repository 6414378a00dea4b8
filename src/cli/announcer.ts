import type { Meanwhile } from "../app.ts"
import { formatEnd, plain, shortId } from "./format.ts"
import type { Screen } from "./screen.ts"

const LONG_MS = 24 * 60 * 60 * 1_000

/** Says when tasks end. */
export interface Announcer {
  announceEnd(taskId: string): void
  /** Announces the end of what was left running before this program started. */
  announceLeft(): Promise<void>
  /** Resolves when every announced task has ended, or the signal aborts. */
  allEnded(signal: AbortSignal): Promise<void>
  count(): number
  close(): void
}

export function createAnnouncer(meanwhile: Meanwhile, screen: Screen): Announcer {
  const watched = new Map<string, Promise<void>>()
  const closing = new AbortController()

  async function watch(taskId: string): Promise<void> {
    while (!closing.signal.aborted) {
      const { task } = await meanwhile.tasks.result(taskId, { waitMs: LONG_MS, signal: closing.signal })
      if (closing.signal.aborted) return
      if (!("endedAt" in task)) continue
      screen.print(`[${shortId(task.id)}] ${formatEnd(task)}: ${plain(task.title)}`)
      return
    }
  }

  function announceEnd(taskId: string): void {
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
    announceEnd,
    async announceLeft() {
      const { items } = await meanwhile.tasks.list({ statuses: ["queued", "running", "waiting", "stopping"] })
      if (items.length === 0) return
      screen.print(`${items.length === 1 ? "1 task goes" : `${items.length} tasks go`} on from before: see \`tasks\``)
      for (const { id } of items) announceEnd(id)
    },
    async allEnded(signal) {
      const aborted = new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve(), { once: true })
      })
      while (watched.size > 0 && !signal.aborted) await Promise.race([Promise.all(watched.values()), aborted])
    },
    count: () => watched.size,
    close: () => closing.abort(),
  }
}
