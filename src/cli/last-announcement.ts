import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import type { Meanwhile } from "../app.ts"
import type { TaskRow } from "./format.ts"

const ENDED = ["completed", "failed", "cancelled", "timed_out", "interrupted"] as const
const MOST_MISSED = 20

/** Up to when the ends of tasks were announced to somebody, kept beside the store. */
export interface LastAnnouncement {
  remember(endedAt: number): void
  /** What ended after that, oldest first. Nothing when no program has announced anything here before. */
  missed(): Promise<readonly TaskRow[]>
}

export function createLastAnnouncement(path: string, { tasks }: Pick<Meanwhile, "tasks">): LastAnnouncement {
  let until = read(path)

  function remember(endedAt: number): void {
    if (endedAt <= (until ?? 0)) return
    until = endedAt
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `${endedAt}\n`, { mode: 0o600 })
  }

  return {
    remember,
    async missed() {
      const since = until
      if (since === undefined) {
        remember(Date.now())
        return []
      }
      const { items } = await tasks.list({ statuses: ENDED }, { limit: MOST_MISSED })
      return items.filter((task) => "endedAt" in task && task.endedAt > since).toReversed()
    },
  }
}

function read(path: string): number | undefined {
  try {
    const value = Number(readFileSync(path, "utf8"))
    return Number.isFinite(value) ? value : undefined
  } catch {
    return undefined
  }
}
