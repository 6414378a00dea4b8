import { MeanwhileError } from "../../../base/error.ts"
import type { ListedTask, TaskView } from "../../../plugin/task-service.ts"
import { listBelow, type PlacedTask, placeTasks } from "../../../plugin/task-family.ts"
import type { WaitAnswer, WaitRequest } from "../../../plugin/wait-request.ts"
import { isTerminal, LIVE_STATUSES, TERMINAL_STATUSES } from "../../../task/lifecycle.ts"
import { isAskedOfPerson, TASK_KINDS, type TaskRecord } from "../../../task/record.ts"
import type { TaskFilter } from "../../../task/store.ts"
import type { BackgroundCall } from "./background-call.ts"

/** Selects among the tasks of this conversation. */
export interface OwnFilter extends Pick<TaskFilter, "statuses" | "batch" | "isConsumed"> {
  /** The group's name or id. */
  readonly group?: string
}

const MOST_LISTED = 1_000
const CANCEL_WAIT_MS = 15_000
const REASON = "the agent cancelled it"
/** A turn is a task, too, but no model starts one. */
const KINDS = TASK_KINDS.filter((kind) => kind !== "turn")

/** Finds any task of the workspace, for reading. Refuses turns. */
export async function requireTask({ context }: BackgroundCall, id: string): Promise<TaskView> {
  const view = await context.tasks.get(id)
  if (view.task.kind !== "turn") return view
  throw new MeanwhileError("not_found", `${id} is a turn of a conversation, not a task.`, { id })
}

/** Finds a task of this conversation: no conversation stops, changes or clears a task that another one started. */
export async function requireOwn(call: BackgroundCall, id: string): Promise<TaskView> {
  const view = await requireTask(call, id)
  if (view.task.session === call.context.session) return view
  const message = `Task ${view.task.id} belongs to another conversation: only that one, or a person, can do this.`
  throw new MeanwhileError("permission_denied", message, { id: view.task.id })
}

export async function listOwn(call: BackgroundCall, filter: OwnFilter): Promise<readonly ListedTask[]> {
  const { items } = await call.context.tasks.list(await toFilter(call, filter), { limit: MOST_LISTED })
  return items
}

/** More tasks than these are not shown with what is below them. */
const MOST_PARENTS = 100

/**
 * As `listOwn`, with the work that those tasks have started, in whichever conversation, as far as it is wanted: each task
 * after the task that started it.
 */
export async function listFamily(
  call: BackgroundCall,
  filter: OwnFilter,
  isWanted: (task: ListedTask) => boolean = () => true,
): Promise<readonly PlacedTask<ListedTask>[]> {
  const { statuses, group, batch } = filter
  const own = await listOwn(call, filter)
  // A live task is below a live task, which may have another status.
  const isByStatus = statuses !== undefined && group === undefined && batch === undefined
  const live = isByStatus ? await listOwn(call, { statuses: LIVE_STATUSES }) : []
  const known = new Map([...live, ...own].map((task) => [task.id, task]))
  const parents = [...known.values()].slice(0, MOST_PARENTS)
  const below = await listBelow(call.context.tasks.list, parents)
  for (const task of below) known.set(task.id, known.get(task.id) ?? task)
  const listed = new Set([...own, ...below])
  const isShown = (task: ListedTask): boolean =>
    listed.has(task) && task.kind !== "turn" && (statuses?.includes(task.status) ?? true) && isWanted(task)
  const all = [...known.values()]
  return placeTasks(
    all.filter(isShown),
    all.filter((task) => !isShown(task)),
  )
}

/** As `listOwn`, without gates and questions: those are for a person, and a call about all work does not reach them. */
export async function listWork(call: BackgroundCall, filter: OwnFilter): Promise<readonly ListedTask[]> {
  return (await listOwn(call, filter)).filter((task) => !isAskedOfPerson(task))
}

/** Returns once the stop is accepted. */
export async function cancelOwn(call: BackgroundCall, id: string, reason = REASON): Promise<TaskRecord> {
  const { task } = await requireOwn(call, id)
  return call.context.tasks.cancel(task.id, { by: "model", reason })
}

/** True if nothing of the task runs any more: it had ended before, or it was stopped without survivors. */
export async function cancelAndLook(call: BackgroundCall, id: string): Promise<boolean> {
  const before = await requireOwn(call, id)
  if (isTerminal(before.task.status)) return true
  await cancelOwn(call, before.task.id)
  const { task } = await call.context.tasks.result(before.task.id, { waitMs: CANCEL_WAIT_MS })
  if (task.status !== "cancelled" && task.status !== "timed_out") return isTerminal(task.status)
  return task.survivors !== "unknown" && task.survivors.length === 0
}

export async function clearOwn(call: BackgroundCall, filter: OwnFilter): Promise<number> {
  return call.context.tasks.clear(await toFilter(call, { statuses: TERMINAL_STATUSES, ...filter }))
}

async function toFilter({ context }: BackgroundCall, { group, ...filter }: OwnFilter): Promise<TaskFilter> {
  const { session, tasks } = context
  const found = group === undefined ? undefined : await tasks.groups.get(group, { session })
  return { ...filter, session, kinds: KINDS, ...(found && { group: found.id }) }
}

/** The subject of a wait and its limit. */
export type OwnWait = Omit<WaitRequest, "signal" | "consume">

const NOTHING_TO_WAIT_FOR: WaitAnswer = { reason: "met", tasks: [], group: null, match: null }

/**
 * Waits without a model call. A new message of the person ends the wait, and stops no task. Claims nothing: a result
 * is used by the answer that shows it.
 */
export async function waitForTasks(call: BackgroundCall, request: OwnWait): Promise<WaitAnswer> {
  const { tasks, sessions, signal } = call.context
  const wanted = request.tasks ?? (request.group === undefined ? await findUnused(call) : undefined)
  if (wanted?.length === 0 && request.group === undefined) return NOTHING_TO_WAIT_FOR
  const ids = wanted && (await Promise.all(wanted.map(async (id) => (await requireOwn(call, id)).task.id)))
  return tasks.waitFor({
    ...request,
    ...(ids && { tasks: ids }),
    signal: AbortSignal.any([signal, sessions.newMessage]),
  })
}

/**
 * Live tasks, and ended ones with an unused result, so that a task that ends a moment before the wait counts. Gates and
 * questions are left out: until the person answers, each of them would end every wait at once.
 */
async function findUnused(call: BackgroundCall): Promise<readonly string[]> {
  const [live, ended] = await Promise.all([
    listWork(call, { statuses: LIVE_STATUSES }),
    listWork(call, { statuses: TERMINAL_STATUSES, isConsumed: false }),
  ])
  const wanted = [...live, ...ended.filter(({ notify }) => notify !== "silent")]
  return [...new Set(wanted.map(({ id }) => id))]
}
