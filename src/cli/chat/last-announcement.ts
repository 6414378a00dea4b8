import { readFileSync, writeFileSync } from "node:fs"
import type { Runtime } from "../../app.ts"
import { BACKGROUND_KINDS, type TaskRow } from "../format.ts"

const ENDED = ["completed", "failed", "cancelled", "timed_out", "interrupted"] as const
const PAGE_SIZE = 1_000

type EndedRow = Extract<TaskRow, { endedAt: number }>

/** Up to when the ends of tasks were announced to somebody, kept beside the store. */
export interface LastAnnouncement {
  /** As well as it can: at worst an end is announced twice. */
  remember(endedAt: number): void
  /** What ended after that, in the order in which it ended. Nothing when no program has announced anything here before. */
  missed(): Promise<readonly EndedRow[]>
}

export function createLastAnnouncement(path: string, { tasks }: Pick<Runtime, "tasks">): LastAnnouncement {
  let until = read(path)

  function remember(endedAt: number): void {
    const known = Math.max(until ?? 0, read(path) ?? 0)
    if (endedAt <= known) return
    until = endedAt
    try {
      writeFileSync(path, `${endedAt}\n`, { mode: 0o600 })
    } catch {
      // A disk that is full says so where it matters.
    }
  }

  async function endedAfter(since: number): Promise<EndedRow[]> {
    const found: EndedRow[] = []
    const filter = { statuses: ENDED, kinds: BACKGROUND_KINDS }
    let cursor: string | undefined
    do {
      const page = await tasks.list(filter, { limit: PAGE_SIZE, ...(cursor && { cursor }) })
      for (const task of page.items) if ("endedAt" in task && task.endedAt > since) found.push(task)
      cursor = page.cursor
    } while (cursor)
    return found.toSorted((one, other) => one.endedAt - other.endedAt)
  }

  return {
    remember,
    async missed() {
      if (until !== undefined) return endedAfter(until)
      remember(Date.now())
      return []
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
