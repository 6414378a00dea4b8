import type { LifecycleEvent } from "../../task/event.ts"
import type { SessionId, TaskId } from "../../task/id.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import { isAskedOfPerson, type RunState } from "../../task/record.ts"
import type { Stopper } from "../../task/stop.ts"
import { type Change, type Handlers, wakeGroup, wakeSession, wakeTask } from "./change.ts"
import { enterFamily } from "./family.ts"
import { moveRunAlone } from "./move-run.ts"
import { requireClaimed } from "./refusal.ts"
import type { StoredTask, Tables } from "./tables.ts"

/** Why tasks below another are stopped. */
interface Cause {
  readonly reason: string
  readonly parent?: TaskId
}

interface StopCause extends Cause {
  readonly by: Stopper
}

/** Where a task belongs: what is handed on gets the place of the task that it was below. */
interface Place {
  readonly parentTask: TaskId | null
  readonly session: SessionId | null
}

/** The tasks below one, and what becomes of them. */
interface Settling {
  readonly tables: Tables
  readonly change: Change
  readonly childrenOf: ReadonlyMap<TaskId | null, readonly StoredTask[]>
  readonly cause: Cause
  readonly place: Place
  readonly from: TaskId | null
  /** The tasks that go on elsewhere. */
  readonly outlived: TaskId[]
}

/**
 * Settles what is below a task that was asked to stop, or has ended. A stop and a failure stop everything below, at any
 * depth, but for tasks of lifetime `forever`. What goes on although its task was stopped, completed or was interrupted is
 * handed on: it takes the place of that task, and its results are told there. A turn takes only what is its own: the
 * turns of agents that it called in the foreground, its questions, and tasks of lifetime `turn`. Because every end does
 * this, the nearest task above a live one that is no turn is live, too. Returns the task as it is now.
 */
export function settleBelow(tables: Tables, task: StoredTask, event: LifecycleEvent, change: Change): StoredTask {
  const { details, course, state } = task
  if (!course.hasChildren || !(state.status === "stopping" || isTerminal(state.status))) return task
  const { id, parentTask, session } = details
  const settling = createSettling(tables, tables.tasks.below(id), change, {
    cause: { reason: toReason(task, event), parent: id },
    place: { parentTask, session },
    from: id,
  })
  if (details.kind === "turn") settleTurn(settling, id)
  else if (goesOnBelow(state)) handOnBelow(settling, id)
  else for (const child of settling.childrenOf.get(id) ?? []) stopTree(settling, child)
  return noteOutlived(settling, task)
}

/** The causes of a stop that nobody has asked for: a program ends, or was lost. */
const LEAVING: ReadonlySet<Stopper> = new Set(["shutdown", "lost_worker"])

function goesOnBelow(state: RunState): boolean {
  if (state.status === "completed" || state.status === "interrupted") return true
  return "stop" in state && LEAVING.has(state.stop.by)
}

export function createCallHandlers(tables: Tables) {
  return {
    "claim.check"({ run }) {
      requireClaimed(tables.tasks, run)
      return null
    },
    "call.end"({ children, parentTask, session, stoppedFor }, change) {
      const begun = children.flatMap((id) => tables.tasks.find(id) ?? [])
      const below = begun.flatMap(({ details }) => tables.tasks.below(details.id))
      const settling = createSettling(tables, [...begun, ...below], change, {
        cause: { reason: stoppedFor ?? "the call that asked for it has ended" },
        place: { parentTask, session },
        from: null,
      })
      const settle = stoppedFor === null ? handOnTree : stopTree
      for (const child of begun) settle(settling, child)
      return null
    },
  } satisfies Partial<Handlers>
}

function createSettling(
  tables: Tables,
  below: readonly StoredTask[],
  change: Change,
  about: Pick<Settling, "cause" | "place" | "from">,
): Settling {
  const childrenOf = Map.groupBy(below, ({ details }) => details.parentTask)
  return { tables, change, childrenOf, outlived: [], ...about }
}

function toReason({ details: { kind, title, id }, state }: StoredTask, event: LifecycleEvent): string {
  const what = `the ${kind === "tool" ? "task" : kind} above it, ${title} (${id.slice(0, 8)}),`
  const stop = "stop" in state ? state.stop : undefined
  if (stop) return `${what} was stopped by ${stop.by}: ${stop.reason}`
  return `${what} ${event.type === "task.failed" ? "failed" : "has ended"}`
}

/** Stops a task and everything below it. What is stopped already goes on to its end. */
function stopTree(settling: Settling, root: StoredTask): void {
  const waiting = [root]
  for (let task = waiting.pop(); task; task = waiting.pop()) {
    if (isLive(task) && task.details.lifetime === "forever") {
      handOn(settling, task)
      continue
    }
    stop(settling, task)
    waiting.push(...(settling.childrenOf.get(task.details.id) ?? []))
  }
}

function stop(
  { tables, change, cause }: Settling,
  { details: { id } }: StoredTask,
  by: StopCause = { by: "parent", ...cause },
): void {
  const task = tables.tasks.find(id)
  if (!task || !isLive(task) || task.state.status === "stopping") return
  const event =
    task.state.status === "running"
      ? ({ type: "task.stop_requested", ...by } as const)
      : ({ type: "task.cancelled", ...by, survivors: [], late: null } as const)
  moveRunAlone(tables, task, event, change)
}

const OF_TURN = { by: "lifetime", reason: "its turn ended" } as const

/** Stops what ends with a turn: the turns and questions below it, and tasks of lifetime `turn`, also below tasks that go on. */
function settleTurn(settling: Settling, turn: TaskId): void {
  for (const child of settling.childrenOf.get(turn) ?? []) {
    if (child.details.kind === "turn" || isAskedOfPerson(child.details)) stopTree(settling, child)
    else stopTurnTasks(settling, child)
  }
}

/** Stops tasks of lifetime `turn` at and below this task, as far as the next turn. */
function stopTurnTasks(settling: Settling, task: StoredTask): void {
  const { id, kind, lifetime } = task.details
  if (kind === "turn") return
  if (lifetime === "turn") stop(settling, task, OF_TURN)
  const settle = lifetime === "turn" ? stopTree : stopTurnTasks
  for (const child of settling.childrenOf.get(id) ?? []) settle(settling, child)
}

function handOnBelow(settling: Settling, id: TaskId): void {
  for (const child of settling.childrenOf.get(id) ?? []) handOnTree(settling, child)
}

/** Hands on a task with all that is below it. Of a turn, which ends with its agent, what it started is handed on. */
function handOnTree(settling: Settling, task: StoredTask): void {
  const { id, kind } = task.details
  if (kind === "turn") {
    if (isLive(task)) for (const child of settling.childrenOf.get(id) ?? []) stopTurnTasks(settling, child)
    stop(settling, task)
    handOnBelow(settling, id)
  } else if (isAskedOfPerson(task.details)) stop(settling, task)
  else handOn(settling, task)
}

/** Stops whose results nobody waits for. */
const UNTOLD: ReadonlySet<Stopper> = new Set(["parent", "lifetime"])

function isUntold({ details, state }: StoredTask): boolean {
  return "stop" in state ? UNTOLD.has(state.stop.by) : isTerminal(state.status) && details.notify === "silent"
}

/**
 * Gives a task the place of the one that it was below. Its notices go with it, and its group, whose report is told where
 * the notices of its members are.
 */
function handOn({ tables, change, place, from, outlived }: Settling, { details: { id } }: StoredTask): void {
  const task = tables.tasks.find(id)
  if (!task || isUntold(task)) return
  const { parentTask: to, session } = place
  const { number, details, course } = task
  if (details.parentTask === to && details.session === session) return
  const lastSequence = course.lastSequence + 1
  const moved = { ...task, details: { ...details, parentTask: to, session }, course: { ...course, lastSequence } }
  if (isLive(task)) outlived.push(id)
  tables.events.append(number, lastSequence, course.run, change.now, { type: "task.handed_on", from, to, session })
  tables.tasks.saveDetails(moved)
  tables.tasks.saveFacts(moved)
  tables.notices.readdress(number, session)
  if (details.group !== null) {
    tables.groups.readdress(details.group, details.session, session)
    wakeGroup(change, details.group)
  }
  enterFamily(tables, to)
  wakeTask(change, id, lastSequence)
  wakeSession(change, session)
}

const MOST_NAMED = 20

function noteOutlived({ tables, change, outlived }: Settling, task: StoredTask): StoredTask {
  if (outlived.length === 0) return task
  const { number, course } = task
  const lastSequence = course.lastSequence + 1
  const noted = { ...task, course: { ...course, lastSequence } }
  const by = outlived.slice(0, MOST_NAMED)
  tables.events.append(number, lastSequence, course.run, change.now, {
    type: "task.outlived",
    by,
    count: outlived.length,
  })
  tables.tasks.saveFacts(noted)
  wakeTask(change, task.details.id, lastSequence)
  return noted
}

function isLive({ state }: StoredTask): boolean {
  return !isTerminal(state.status)
}
