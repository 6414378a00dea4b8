import { lookUntil } from "../base/look-until.ts"
import type { WorkerPlace } from "../plugin/worker-view.ts"
import { toGivenId } from "../task/given-id.ts"
import type { SessionId, TaskId } from "../task/id.ts"
import type { TaskRecord } from "../task/record.ts"
import type { Blocked } from "./blocked.ts"
import { type Departure, findDeparture, unlessStoreAway } from "./departure.ts"
import type { DeskScope } from "./desk-options.ts"
import type { Ended, EndedTask } from "./ended.ts"
import type { Inbox, InboxItem } from "./inbox.ts"
import { findLive, findLiveWork, type LiveWork } from "./live-work.ts"
import { followNewTasks } from "./new-tasks.ts"
import { isQuestionTask } from "./question.ts"
import { createQueuedTasks } from "./queued-tasks.ts"
import type { SessionAncestors } from "./session-ancestors.ts"
import type { DeskTasks } from "./tasks.ts"

const LONG_MS = 24 * 60 * 60 * 1_000
/** How often the tasks that have not ended are checked for an open question. */
const LOOK_EVERY_MS = 1_000

/** News of a task that concerns an actor. */
export type TaskNews =
  | {
      readonly type: "task.ended"
      readonly task: TaskRecord & { readonly endedAt: number }
      /** When the run was first started, if several workers have had it. */
      readonly firstStartedAt: number | null
      /** True if the agent of its session is to report the result by itself. */
      readonly isReported: boolean
    }
  /** Another process has taken a task that had to wait in the queue. */
  | { readonly type: "task.taken"; readonly task: Pick<TaskRecord, "id" | "title">; readonly worker: WorkerPlace }
  | { readonly type: "question.opened"; readonly item: InboxItem }
  /** An agent's question was answered or withdrawn. */
  | { readonly type: "question.closed"; readonly task: TaskRecord }
  /** The task can no longer be followed. */
  | { readonly type: "task.lost"; readonly taskId: TaskId; readonly error: unknown }

export interface NewsOptions {
  /** True for a session that the actor talks with, and for agents of it. */
  readonly isHere: (session: SessionId) => boolean
  /** True if agents report by themselves what their tasks came to. */
  readonly areReportsOn: boolean
  /** Awaited before an end counts as shown. */
  readonly onNews: (news: TaskNews) => void | Promise<void>
}

/** Follows tasks for one screen: those that are started here, and those of others that concern its actor. */
export interface TaskNewsDesk {
  /** Follows a task that was started or stopped here. */
  follow(task: string): void
  /** Follows a task whose end the actor was promised to hear of, even if that comes after this process. */
  promise(task: string): void
  /** Follows the live tasks of a conversation, and all other live tasks that concern the actor. */
  followLive(conversation: string): Promise<LiveWork>
  /** Follows the live tasks of a conversation that is opened later. */
  followSession(conversation: string): Promise<void>
  /**
   * Resolves when every task of this process has ended or waits for a person, or the signal aborts; true if there was
   * one to wait for.
   */
  allEnded(signal: AbortSignal): Promise<boolean>
  /** The tasks of this process that have not ended and wait for no person, as far as the store can be asked. */
  going(): Promise<readonly TaskId[]>
  /** The fate of these tasks, and of those that other processes run for a conversation of this one, when it leaves. */
  departure(): Promise<Departure>
  /** Tells now that these tasks have ended, if that was not told yet. Undefined if there is nothing to tell. */
  tellEnds(tasks: readonly string[]): Promise<void> | undefined
  /** True if a question was told for each of these tasks. */
  hasAsked(tasks: readonly string[]): boolean
  close(): void
}

type NewsParts = Pick<DeskScope, "workspace" | "store" | "bus" | "tasks" | "clock" | "runsTasks"> & {
  readonly inbox: Pick<Inbox, "of">
  readonly blocked: Pick<Blocked, "byQuestion">
  readonly deskTasks: Pick<DeskTasks, "firstStart" | "isReported">
  readonly ended: Ended
  readonly ancestorsOf: SessionAncestors
}

const toId = (id: string): TaskId => toGivenId("task", id)

export function createTaskNews(parts: NewsParts, options: NewsOptions): TaskNewsDesk {
  const { workspace, tasks, blocked, ended, clock, ancestorsOf } = parts
  const startedHere = new Set<TaskId>()
  const askedHere = new Set<TaskId>()
  const conversations = new Set<SessionId>()
  /** Tasks that another program has begun for a conversation while it was open here. */
  const begunElsewhere = new Set<TaskId>()
  const watch = createTaskWatch(parts, options)

  const isOwn = (id: TaskId): boolean => startedHere.has(id) || tasks.runsHere(id)
  const own = (): [TaskId, Promise<void>][] =>
    [...watch.watched].flatMap(([id, { over }]) => (isOwn(id) && !watch.asking.has(id) ? [[id, over]] : []))
  const concerns = async (task: Pick<TaskRecord, "id" | "session">): Promise<boolean> =>
    isOwn(task.id) || (await ended.isTold(task, options.isHere))

  /** A task of a session that the store cannot be asked about counts as another's: it is not stopped. */
  async function isAskedHere(id: TaskId, session: SessionId | null): Promise<boolean> {
    if (askedHere.has(id) || session === null) return askedHere.has(id)
    const line = await ancestorsOf(session).catch(() => [session])
    return line.some((above) => conversations.has(above))
  }

  /** Asked when a task is first seen: the turn that has begun it still runs then. Who runs it once more is not known. */
  const isBegunElsewhere = ({ session, parentTask, run }: TaskRecord): boolean =>
    session !== null && conversations.has(session) && run === 1 && parentTask !== null && !tasks.runsHere(parentTask)

  function follow(id: TaskId): void {
    startedHere.add(id)
    begunElsewhere.delete(id)
    watch.asking.delete(id)
    watch.follow(id)
  }

  /** Without those that a question holds up, as far as the store can be asked. */
  async function going(ids: readonly TaskId[]): Promise<readonly TaskId[]> {
    const held = await unlessStoreAway(blocked.byQuestion())
    return ids.filter((id) => !(held ?? watch.asking).has(id))
  }

  const unfollow = followNewTasks(
    { ...parts, now: () => clock.now() },
    async (task) => task.workspace === workspace && concerns(task),
    (task) => {
      if (watch.isTold(task)) return
      if (!isBegunElsewhere(task)) return follow(task.id)
      begunElsewhere.add(task.id)
      watch.follow(task.id)
    },
  )

  return {
    follow: (id) => follow(toId(id)),
    promise(given) {
      const id = toId(given)
      askedHere.add(id)
      ended.expect(id)
      follow(id)
    },
    async followLive(given) {
      const conversation = toGivenId("session", given, "conversation")
      conversations.add(conversation)
      const work = await findLiveWork(parts, conversation, concerns)
      for (const id of work.tasks) watch.follow(id)
      return work
    },
    async followSession(given) {
      const conversation = toGivenId("session", given, "conversation")
      conversations.add(conversation)
      for (const { id } of await findLive(tasks, { workspace, session: conversation })) watch.follow(id)
    },
    async allEnded(signal) {
      await Promise.all([...watch.watched.values()].map(({ looked }) => looked))
      let hasWaited = false
      let wake: () => void = () => undefined
      await lookUntil({
        clock,
        pollMs: LOOK_EVERY_MS,
        signals: [signal],
        keepsProcessAlive: true,
        subscribe(given) {
          wake = given
          return () => undefined
        },
        async look() {
          const held = await blocked.byQuestion()
          const going = own().flatMap(([id, over]) => (held.has(id) ? [] : [over]))
          if (going.length === 0) return true
          if (!signal.aborted) hasWaited = true
          void Promise.all(going).then(wake)
          return undefined
        },
      })
      return hasWaited
    },
    going: async () => going(own().map(([id]) => id)),
    departure() {
      const isTold = (task: Pick<TaskRecord, "id" | "session">): Promise<boolean> => ended.isTold(task, options.isHere)
      const known = { seen: watch.seen, conversations, begunElsewhere, isOwn, isAskedHere, isTold, going }
      return findDeparture({ tasks, workspace, ...known }, [...watch.watched.keys()])
    },
    tellEnds(ids) {
      const untold = ids.map(toId).filter((id) => watch.watched.has(id))
      return untold.length === 0 ? undefined : Promise.all(untold.map(watch.tellEnd)).then(() => {})
    },
    hasAsked: (ids) => ids.map(toId).every((id) => watch.asking.has(id)),
    close() {
      unfollow()
      watch.close()
    },
  }
}

interface Watched {
  /** Resolves when its question, if it waits with one, was told. */
  readonly looked: Promise<void>
  /** Resolves when its end was told. */
  readonly over: Promise<void>
}

/** Waits for the ends of tasks, and tells the end of each run once. */
function createTaskWatch(parts: NewsParts, { isHere, areReportsOn, onNews }: NewsOptions) {
  const { workspace, store, bus, tasks, inbox, deskTasks, ended } = parts
  const watched = new Map<TaskId, Watched>()
  /** Each watched task as it was first read, for when the store is away. */
  const seen = new Map<TaskId, TaskRecord>()
  /** Tasks that wait for a person: nobody waits for their ends. */
  const asking = new Set<TaskId>()
  /** By task, the run whose end was told, or is just being told. */
  const told = new Map<TaskId, { readonly run: number; readonly telling: Promise<void> }>()
  const closing = new AbortController()
  const queued = createQueuedTasks({
    store,
    bus,
    tasks: { get: (id) => tasks.get(id, workspace) },
    onTaken: (task, worker) => onNews({ type: "task.taken", task, worker }),
  })

  function tellOnce(task: TaskRecord & EndedTask): Promise<void> {
    const before = told.get(task.id)
    if (before?.run === task.run) return before.telling
    const telling = tell(task)
    told.set(task.id, { run: task.run, telling })
    return telling
  }

  async function tell(task: TaskRecord & EndedTask): Promise<void> {
    if (isQuestionTask(task)) return onNews({ type: "question.closed", task })
    const isTold = await ended.isTold(task, isHere)
    if (isTold) ended.begin(task)
    const isMain = task.session !== null && isHere(task.session)
    const isReported = areReportsOn && isMain && (await deskTasks.isReported(task))
    const firstStartedAt = await deskTasks.firstStart(task)
    await onNews({ type: "task.ended", task, firstStartedAt, isReported })
    if (isTold) ended.acknowledge(task)
  }

  async function waitForEnd(id: TaskId): Promise<void> {
    while (!closing.signal.aborted) {
      const { task } = await tasks.result(id, { waitMs: LONG_MS, signal: closing.signal }, workspace)
      if (closing.signal.aborted) return
      if (!("endedAt" in task)) continue
      return tellOnce(task)
    }
  }

  async function look(id: TaskId): Promise<void> {
    const { task } = await tasks.get(id, workspace)
    if (watched.has(id)) seen.set(id, task)
    queued.follow(task)
    const item = task.status === "waiting" ? await inbox.of(id) : undefined
    if (!item) return
    asking.add(id)
    await onNews({ type: "question.opened", item })
  }

  return {
    watched,
    seen,
    asking,
    /** True if the end of this run is told, or will be. */
    isTold: ({ id, run }: Pick<TaskRecord, "id" | "run">): boolean => watched.has(id) || told.get(id)?.run === run,
    async tellEnd(id: TaskId): Promise<void> {
      const { task } = await tasks.get(id, workspace)
      if ("endedAt" in task) await tellOnce(task)
    },
    follow(id: TaskId): void {
      if (watched.has(id)) return
      const looked = look(id).catch(() => {})
      const lose = (error: unknown) =>
        closing.signal.aborted ? undefined : onNews({ type: "task.lost", taskId: id, error })
      const over = waitForEnd(id)
        .catch(lose)
        // If the screen cannot show this either, the end is not acknowledged, and the next screen shows it.
        .catch(() => {})
        .finally(() => {
          watched.delete(id)
          seen.delete(id)
        })
      watched.set(id, { looked, over })
    },
    close(): void {
      queued.close()
      closing.abort()
    },
  }
}
