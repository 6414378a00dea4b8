import type { Runtime } from "../src/app.ts"
import type { SessionId } from "../src/task/id.ts"
import type { TaskFilter } from "../src/task/store.ts"
import { percentile, timed } from "./statistics.ts"
import { failing, noOp } from "./tools.ts"

/** How many tasks, from all over the store, are read one at a time. */
export const READ_TASKS = 3_000
const SESSIONS = ["first", "second", "third"] as readonly string[] as readonly SessionId[]
const LISTS = 1_000
const PAGE = 50

/** Finished and used tasks, one of either outcome for each session and for none: a long history is made of their copies. */
export async function recordFinishedTasks({ tasks }: Runtime): Promise<readonly string[]> {
  const ids: string[] = []
  for (const session of [null, ...SESSIONS]) {
    for (const { name } of [noOp, failing]) {
      const { id } = await tasks.start({ tool: name, input: {}, session })
      await tasks.result(id, { waitMs: 10_000, consume: true })
      ids.push(id)
    }
  }
  return ids
}

/** The 99th percentile of reading one task, and of reading a list. */
export async function measureReading(
  runtime: Runtime,
  ids: readonly string[],
): Promise<{ readonly getMs: number; readonly listMs: number }> {
  return { getMs: await measureGets(runtime, ids), listMs: await measureLists(runtime) }
}

async function measureGets({ tasks }: Runtime, ids: readonly string[]): Promise<number> {
  const times: number[] = []
  for (const id of ids) times.push(await timed(() => tasks.get(id)))
  return percentile(times, 0.99)
}

/** The first page as a person asks for it: all, what failed, what lives, what belongs to a session. */
async function measureLists({ tasks }: Runtime): Promise<number> {
  const filters: readonly TaskFilter[] = [
    {},
    { statuses: ["failed"] },
    { statuses: ["queued", "running", "waiting", "stopping"] },
    ...SESSIONS.map((session) => ({ session })),
  ]
  const times: number[] = []
  for (let index = 0; index < LISTS; index++) {
    const filter = filters[index % filters.length] ?? {}
    times.push(await timed(() => tasks.list(filter, { limit: PAGE })))
  }
  return percentile(times, 0.99)
}
