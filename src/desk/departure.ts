import { isMeanwhileError } from "../base/error.ts"
import type { WorkerView } from "../plugin/worker-view.ts"
import type { SessionId, TaskId, WorkerId } from "../task/id.ts"
import { isTerminal, LIVE_STATUSES } from "../task/lifecycle.ts"
import type { TaskRecord, TaskSummary } from "../task/record.ts"
import type { DeskScope } from "./desk-options.ts"
import type { Ended } from "./ended.ts"
import { listAll } from "./list-all.ts"
import { findLive } from "./live-work.ts"

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
  /** Turns of conversations that this process runs. */
  readonly turns: readonly TaskSummary[]
  /**
   * Those that are the actor's to stop: begun here, by the actor or in a conversation that was open here; and what such a
   * conversation had begun before, or another program has begun for it, once no other program has it.
   */
  readonly own: ReadonlySet<TaskId>
  /**
   * Those that this process has taken over, while no other program is open that may have asked for them. Keepers ask for
   * nothing. In a shared store only tasks that the actor was promised to hear of.
   */
  readonly takenOver: ReadonlySet<TaskId>
}

interface DepartureParts extends Pick<DeskScope, "workspace"> {
  readonly tasks: Pick<DeskScope["tasks"], "get" | "list" | "findRunHere" | "runsHere"> & {
    workers(): Promise<readonly Place[]>
  }
  /** Tasks as they were first read, for when the store is away. */
  readonly seen: ReadonlyMap<TaskId, TaskRecord>
  /** The conversations that were open here. */
  readonly conversations: ReadonlySet<SessionId>
  /** Tasks that another program has begun for one of them since. */
  readonly begunElsewhere: ReadonlySet<TaskId>
  /** True for a task that was started here, or runs here. */
  readonly isOwn: (id: TaskId) => boolean
  readonly isAskedHere: (id: TaskId, session: SessionId | null) => Promise<boolean>
  readonly isTold: (task: Parameters<Ended["isTold"]>[0]) => Promise<boolean>
  /** Leaves out those that a question holds up. */
  readonly going: (ids: readonly TaskId[]) => Promise<readonly TaskId[]>
}

type Place = Pick<WorkerView, "id" | "where" | "endsWhenIdle">

/** The tasks that concern the actor, of those that are followed and all others, by what becomes of them on leaving. */
export async function findDeparture(parts: DepartureParts, followed: readonly TaskId[]): Promise<Departure> {
  const { tasks, workspace, seen, begunElsewhere, isOwn, isAskedHere, going } = parts
  const workers = (await unlessStoreAway(tasks.workers())) ?? []
  const self = workers.flatMap(({ id, where }) => (where === "process" ? id : []))
  const unseen = await findUnseen(parts, self, new Set(followed))
  const turns = await findTurns(parts, self)
  const ids = await going([...followed, ...unseen])
  const views = await Promise.all(ids.map((id) => tasks.get(id, workspace).catch(() => undefined)))
  const all = ids.map((id, index) => ({ id, known: views[index]?.task ?? seen.get(id) }))
  const isAsked = await Promise.all(all.map(({ id, known }) => isAskedHere(id, known?.session ?? null)))
  const concerned = all.filter(({ id }, index) => isOwn(id) || isAsked[index])
  const here = concerned.flatMap(({ id, known }): TaskHere | readonly [] => {
    const run = tasks.findRunHere(id)
    return run ? (known ?? { id, ...run }) : []
  })
  const others = concerned.flatMap(({ id, known }) => (known && !tasks.runsHere(id) ? known : []))
  const keepers = new Set(workers.flatMap(({ id, endsWhenIdle }) => (endsWhenIdle ? id : [])))
  const isLeft = (known: TaskRecord | undefined): boolean =>
    isAlone(workers) || (known !== undefined && "worker" in known && keepers.has(known.worker))
  const isMine = ({ id, known }: (typeof all)[number], index: number): boolean =>
    isAsked[index] === true && ((isOwn(id) && !begunElsewhere.has(id)) || isLeft(known))
  const areAskedTurns = await Promise.all(turns.map(({ id, session }) => isAskedHere(id, session)))
  const ownTurns = turns.filter((_, index) => areAskedTurns[index])
  const own = new Set([...all.filter(isMine), ...ownTurns].map(({ id }) => id))
  const running = concerned.flatMap(({ id, known }) => (known && tasks.runsHere(id) ? known : []))
  const takenOver = [...running, ...turns].filter(({ id }) => !own.has(id))
  return {
    here,
    queued: others.filter(({ status }) => status === "queued"),
    elsewhere: others.filter(({ status }) => status !== "queued" && !isTerminal(status)),
    turns,
    own,
    takenOver: isAlone(workers) ? await selectTold(parts, takenOver) : new Set(),
  }
}

/** False also if it is not known. */
const isAlone = (workers: readonly Place[]): boolean =>
  workers.length > 0 && workers.every(({ where, endsWhenIdle }) => where === "process" || endsWhenIdle)

async function selectTold(
  { isTold }: Pick<DepartureParts, "isTold">,
  tasks: readonly (TaskRecord | TaskSummary)[],
): Promise<ReadonlySet<TaskId>> {
  const areTold = await Promise.all(tasks.map((task) => isTold(task).catch(() => false)))
  return new Set(tasks.flatMap(({ id }, index) => (areTold[index] ? id : [])))
}

/** Live tasks that nobody follows, of the conversations and in this process: not all that others begin is heard of. */
async function findUnseen(
  { tasks, workspace, conversations }: Pick<DepartureParts, "tasks" | "workspace" | "conversations">,
  self: readonly WorkerId[],
  followed: ReadonlySet<TaskId>,
): Promise<readonly TaskId[]> {
  const filters = [...self.map((worker) => ({ worker })), ...[...conversations].map((session) => ({ session }))]
  const found = await unlessStoreAway(Promise.all(filters.map((filter) => findLive(tasks, { workspace, ...filter }))))
  const ids = new Set((found ?? []).flat().map(({ id }) => id))
  return [...ids.difference(followed)]
}

/** Leaves out the turns of agents. */
async function findTurns(
  { tasks, workspace }: Pick<DepartureParts, "tasks" | "workspace">,
  self: readonly WorkerId[],
): Promise<readonly TaskSummary[]> {
  const filter = { workspace, kinds: ["turn"], statuses: LIVE_STATUSES } as const
  const found = self.map((worker) => Array.fromAsync(listAll(tasks, { ...filter, worker })))
  return ((await unlessStoreAway(Promise.all(found))) ?? []).flat().filter(({ parentTask }) => parentTask === null)
}

/** What the store says; undefined while it is away. */
export function unlessStoreAway<Value>(read: Promise<Value>): Promise<Value | undefined> {
  return read.catch((error: unknown) => {
    if (isMeanwhileError(error, "store_unavailable")) return undefined
    throw error
  })
}
