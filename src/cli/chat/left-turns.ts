import type { Runtime } from "../../app.ts"
import { whenAborted } from "../../base/when-aborted.ts"
import { shortId, type TaskRow, toLine } from "../format.ts"
import type { Screen } from "../screen/screen.ts"

const LIVE = ["queued", "running", "waiting", "stopping"] as const
const LONG_MS = 24 * 60 * 60 * 1_000

/** Turns that a crash or a shutdown cut off, and which go on here by themselves. */
export interface LeftTurns {
  /** Tells of them, and of those of other sessions than this, of which. */
  tell(own: NonNullable<TaskRow["session"]>): Promise<void>
  count(): number
  allEnded(signal: AbortSignal): Promise<void>
  /** Follows none any more. Before the runtime is closed, which answers at once from then on. */
  close(): void
}

export function createLeftTurns({ tasks }: Runtime, screen: Screen): LeftTurns {
  const going = new Set<Promise<void>>()
  const closing = new AbortController()

  async function follow(id: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { task } = await tasks.result(id, { waitMs: LONG_MS, signal })
      if ("endedAt" in task) return
    }
  }

  return {
    async tell(own) {
      const { items } = await tasks.list({ kinds: ["turn"], statuses: LIVE })
      // Those of an agent below another belong to its task.
      const main = items.filter(({ parentTask }) => parentTask === null)
      const left = main.filter(({ id, status, session }) =>
        status === "queued" ? session !== null && tasks.takesTurns(session) : tasks.runsHere(id),
      )
      for (const { id, title, session } of left) {
        const where = session && session !== own ? ` (session ${shortId(session)})` : ""
        screen.print(`A turn from before goes on: ${toLine(title)}${where}`)
        const following = follow(id, closing.signal)
          .catch(() => {})
          .finally(() => going.delete(following))
        going.add(following)
      }
    },
    count: () => going.size,
    async allEnded(signal) {
      await Promise.race([Promise.all(going), whenAborted(signal)])
    },
    close: () => closing.abort(),
  }
}
