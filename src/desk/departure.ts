import type { SessionId, TaskId } from "../task/id.ts"
import { isTerminal } from "../task/lifecycle.ts"
import type { TaskRecord } from "../task/record.ts"
import type { DeskScope } from "./desk-options.ts"

/** A task that goes on. A task that began while the store was away has no title yet. */
export type TaskHere = Pick<TaskRecord, "id" | "kind" | "lifetime"> & Partial<Pick<TaskRecord, "title">>

/** The fate of tasks when this process leaves. */
export interface Departure {
  /** Tasks that this process runs. */
  readonly here: readonly TaskHere[]
  /** Tasks that other processes run, or will: those that were started here, and those of a conversation that was open here. */
  readonly elsewhere: readonly TaskHere[]
  /** Queued tasks: nobody runs them yet. */
  readonly queued: readonly TaskRecord[]
  /** Those that were asked for here: by the actor, or in a conversation that was open here. */
  readonly own: ReadonlySet<TaskId>
}

interface DepartureParts extends Pick<DeskScope, "workspace"> {
  readonly tasks: Pick<DeskScope["tasks"], "get" | "findRunHere" | "runsHere">
  /** Tasks as they were first read, for when the store is away. */
  readonly seen: ReadonlyMap<TaskId, TaskRecord>
  /** True for a task that was started here, or runs here. */
  readonly isOwn: (id: TaskId) => boolean
  readonly isAskedHere: (id: TaskId, session: SessionId | null) => Promise<boolean>
}

/** Of these tasks, those that were started or asked for here, by what becomes of them when this process leaves. */
export async function findDeparture(
  { tasks, workspace, seen, isOwn, isAskedHere }: DepartureParts,
  ids: readonly TaskId[],
): Promise<Departure> {
  const views = await Promise.all(ids.map((id) => tasks.get(id, workspace).catch(() => undefined)))
  const all = ids.map((id, index) => ({ id, known: views[index]?.task ?? seen.get(id) }))
  const isAsked = await Promise.all(all.map(({ id, known }) => isAskedHere(id, known?.session ?? null)))
  const concerned = all.filter(({ id }, index) => isOwn(id) || isAsked[index])
  const here = concerned.flatMap(({ id, known }): TaskHere | readonly [] => {
    const run = tasks.findRunHere(id)
    return run ? (known ?? { id, ...run }) : []
  })
  const others = concerned.flatMap(({ id, known }) => (known && !tasks.runsHere(id) ? known : []))
  return {
    here,
    queued: others.filter(({ status }) => status === "queued"),
    elsewhere: others.filter(({ status }) => status !== "queued" && !isTerminal(status)),
    own: new Set(ids.filter((_, index) => isAsked[index])),
  }
}
