import type { TaskService } from "../plugin/task-service.ts"
import { readFamily } from "../session/log/read-log.ts"
import { toGivenId } from "../task/given-id.ts"
import type { SessionId, TaskId, WorkspaceId } from "../task/id.ts"
import { TERMINAL_STATUSES } from "../task/lifecycle.ts"
import { type TaskSummary, WORK_KINDS } from "../task/record.ts"
import type { TaskStore } from "../task/store.ts"
import type { IdFiles } from "./id-files.ts"
import { listAll } from "./list-all.ts"
import { isQuestionTask } from "./question.ts"
import type { SessionAncestors } from "./session-ancestors.ts"
import type { ToldMark, ToldMarks } from "./told-marks.ts"

export type EndedTask = Extract<TaskSummary, { endedAt: number }>
type Told = Pick<EndedTask, "id" | "session" | "endedAt">

/**
 * Knows which ends of tasks an actor has not been told of, in this process or in another one. An end is shown to the actor
 * first, and then acknowledged: after a kill between the two it is shown again, and none is lost. A question ends with its
 * answer, which is no news.
 *
 * In the store of a data folder, every end is the actor's. In a shared store, these are the ends of the actor's
 * conversation, and of tasks without a conversation that the actor expects in this data folder.
 */
export interface Ended {
  /** In the order in which they ended. Ends from before the actor first asked are not listed. */
  list(conversation: string): Promise<readonly EndedTask[]>
  /** Called before the actor is shown this end: until it is acknowledged, no later end hides it from the next process. */
  begin(task: Told): void
  /** Called when the actor was shown this end, or need not be. */
  acknowledge(task: Told): void
  /**
   * Acknowledges ends that the actor was shown by a program that does not list what they missed. Resolves when that is
   * kept; what they missed stays.
   */
  shown(ends: readonly Told[]): Promise<void>
  /** Resolves when all that was acknowledged is kept, as well as possible. */
  kept(): Promise<void>
  /** Records that the actor was promised to hear how a task ends. */
  expect(task: string): void
  /** True if the actor hears how the task ends, in a conversation or agent that `isHere`. */
  isTold(task: Pick<EndedTask, "id" | "session">, isHere: (session: SessionId) => boolean): Promise<boolean>
}

export interface EndedParts {
  readonly workspace: WorkspaceId
  readonly store: Pick<TaskStore, "sessions" | "task">
  readonly tasks: Pick<TaskService, "list">
  readonly marks: ToldMarks
  readonly ancestorsOf: SessionAncestors
  readonly now: () => number
  /**
   * The expected tasks without a conversation, in a shared store. Null if the store belongs to the data folder: then every
   * task does.
   */
  readonly expected: IdFiles<TaskId> | null
}

export function createEnded(parts: EndedParts): Ended {
  const { workspace, store, tasks, marks, ancestorsOf, now, expected } = parts
  /** Ends that are being shown, by task. */
  const open = new Map<TaskId, Told>()
  /** By conversation, the latest end that was acknowledged here. */
  const acknowledged = new Map<SessionId, number>()
  let keeping: Promise<void> = Promise.resolve()

  async function findConversation(session: SessionId): Promise<SessionId> {
    return (await ancestorsOf(session)).at(-1) ?? session
  }

  /** An index finds them, whether a session is named or not. */
  async function readEnded({ until, beyond }: ToldMark, session?: SessionId): Promise<readonly EndedTask[]> {
    const ends = { workspace, statuses: TERMINAL_STATUSES, kinds: WORK_KINDS, endedAfter: until }
    const filter = session === undefined ? ends : { ...ends, session }
    const ended = (await Array.fromAsync(listAll(tasks, filter))).filter((task) => "endedAt" in task)
    const isTold = (task: EndedTask): boolean =>
      beyond.some(({ id, endedAt }) => id === task.id && endedAt === task.endedAt)
    return ended.filter((task) => !isQuestionTask(task) && !isTold(task))
  }

  /** Of the conversation and of agents below it. */
  async function readOwn(told: ToldMark, conversation: SessionId): Promise<readonly EndedTask[]> {
    const family = await readFamily(store, workspace, [conversation])
    return (await Promise.all(family.map((session) => readEnded(told, session)))).flat()
  }

  /** A task that was removed, or that has a conversation by now, is expected no more. */
  async function readExpected(ids: IdFiles<TaskId>): Promise<readonly EndedTask[]> {
    const found: EndedTask[] = []
    for (const id of ids.list()) {
      const task = await store.task(id)
      if (task && task.workspace !== workspace) continue
      if (task?.session !== null) ids.remove(id)
      else if ("endedAt" in task) found.push(task)
    }
    return found
  }

  /** The conversation whose mark covers the ends of this session. */
  async function findMarked(session: SessionId | null): Promise<SessionId> {
    return expected && session ? findConversation(session) : ALL_CONVERSATIONS
  }

  /** The mark's time stays below every end that is not shown yet. */
  async function raise({ id, session, endedAt }: Told): Promise<void> {
    const conversation = await findMarked(session)
    const latest = Math.max(endedAt, acknowledged.get(conversation) ?? 0)
    acknowledged.set(conversation, latest)
    const until = Math.min(latest, ...[...open.values()].map((other) => other.endedAt - 1))
    await marks.raise(conversation, { until, beyond: [{ id, endedAt }] })
  }

  async function list(conversation: SessionId): Promise<readonly EndedTask[]> {
    const told = await marks.read(conversation)
    if (!told && !expected) await marks.raise(conversation, { until: now(), beyond: [] })
    const ended = told ? await (expected ? readOwn(told, conversation) : readEnded(told)) : []
    const listed = [...ended, ...(expected ? await readExpected(expected) : [])].toSorted(
      (one, other) => one.endedAt - other.endedAt,
    )
    for (const task of listed) open.set(task.id, task)
    return listed
  }

  function acknowledge(task: Told): void {
    const { id, session } = task
    open.delete(id)
    expected?.remove(id)
    if (expected && session === null) return
    keeping = keeping.then(() => raise(task)).catch(() => {})
  }

  return {
    list: async (given) => list(toGivenId("session", given, "conversation")),
    begin: (task) => void open.set(task.id, task),
    acknowledge,
    async shown(ends) {
      // Listing first keeps each mark below ends that nobody was shown.
      for (const conversation of new Set(await Promise.all(ends.map(({ session }) => findMarked(session)))))
        await list(conversation)
      for (const end of ends) acknowledge(end)
      await keeping
    },
    kept: () => keeping,
    expect: (task) => expected?.add(toGivenId("task", task)),
    async isTold({ id, session }, isHere) {
      if (!expected) return true
      return session === null ? expected.has(id) : (await ancestorsOf(session)).some(isHere)
    },
  }
}

/** A data folder has one mark. */
const ALL_CONVERSATIONS = "" as SessionId
