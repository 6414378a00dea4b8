import { readFileSync, writeFileSync } from "node:fs"
import type { Runtime } from "../../app.ts"
import type { TaskId, TaskRow } from "../format.ts"
import { openDesk } from "../person-desk.ts"

export type SessionId = NonNullable<TaskRow["session"]>

/** Up to when the ends of tasks were announced to somebody. */
export interface LastAnnouncement {
  /** Somebody was told here that its end will be announced. */
  promise(taskId: TaskId): void
  /** Whether its end is told here, although it belongs to no conversation. */
  isPromised(taskId: TaskId): boolean
  /** As well as it can: at worst an end is announced twice. */
  remember(ended: Pick<EndedRow, "id" | "session" | "endedAt">): void
  /** What ended after that, in the order in which it ended; of other conversations too. */
  missed(conversation: SessionId): Promise<readonly EndedRow[]>
  /** Resolves when what is to be remembered is kept, as well as it can be. */
  kept(): Promise<void>
}

/** Of a store in the data folder, beside it. Nothing was missed where no program has announced anything before. */
export function createLastAnnouncement(path: string, meanwhile: Pick<Runtime, "desk">): LastAnnouncement {
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

  return {
    promise() {},
    isPromised: () => true,
    remember: ({ endedAt }) => remember(endedAt),
    async missed() {
      if (until !== undefined) return findEndedAfter(meanwhile, until)
      remember(Date.now())
      return []
    },
    kept: async () => {},
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

export type EndedRow = Extract<TaskRow, { endedAt: number }>

/** Of the whole store, in the order in which they ended. */
export async function findEndedAfter(meanwhile: Pick<Runtime, "desk">, since: number): Promise<readonly EndedRow[]> {
  const found: EndedRow[] = []
  const filter = { statuses: "ended", kinds: "work", endedAfter: since } as const
  for await (const task of openDesk(meanwhile).tasks.each(filter)) if ("endedAt" in task) found.push(task)
  return inOrder(found)
}

export function inOrder(ended: readonly EndedRow[]): readonly EndedRow[] {
  return ended.toSorted((one, other) => one.endedAt - other.endedAt)
}
