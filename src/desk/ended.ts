import type { TaskService } from "../plugin/task-service.ts"
import { toGivenId } from "../task/given-id.ts"
import type { SessionId, TaskId, WorkspaceId } from "../task/id.ts"
import { TERMINAL_STATUSES } from "../task/lifecycle.ts"
import { type TaskSummary, WORK_KINDS } from "../task/record.ts"
import type { TaskStore } from "../task/store.ts"
import type { IdFiles } from "./id-files.ts"
import { listAll } from "./list-all.ts"
import type { SessionAncestors } from "./session-ancestors.ts"
import type { ToldMarks } from "./told-marks.ts"

export type EndedTask = Extract<TaskSummary, { endedAt: number }>
type Told = Pick<EndedTask, "id" | "session" | "endedAt">

/**
 * Knows which ends of tasks an actor has not been told of, in this process or in another one. An end is shown to the actor
 * first, and then acknowledged: after a kill between the two it is shown again, and none is lost.
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
  /** Resolves when all that was acknowledged is kept, as well as possible. */
  kept(): Promise<void>
  /** Records that the actor was promised to hear how a task ends. */
  expect(task: string): void
  /** True if the actor hears how the task ends, in a conversation or agent that `isHere`. */
  isTold(task: Pick<EndedTask, "id" | "session">, isHere: (session: SessionId) => boolean): Promise<boolean>
}

export interface EndedParts {
  readonly workspace: WorkspaceId
  readonly store: Pick<TaskStore, "task">
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

  async function readEnded(since: number): Promise<readonly EndedTask[]> {
    const filter = { workspace, statuses: TERMINAL_STATUSES, kinds: WORK_KINDS, endedAfter: since }
    return (await Array.fromAsync(listAll(tasks, filter))).filter((task) => "endedAt" in task)
  }

  async function selectOwn(ended: readonly EndedTask[], conversation: SessionId): Promise<readonly EndedTask[]> {
    const isOwn = await Promise.all(
      ended.map(async ({ session }) => session !== null && (await findConversation(session)) === conversation),
    )
    return ended.filter((_, index) => isOwn[index])
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

  /** The mark stays below every end that is not shown yet. */
  async function raise({ session, endedAt }: Told): Promise<void> {
    const conversation = expected && session ? await findConversation(session) : ALL_CONVERSATIONS
    const latest = Math.max(endedAt, acknowledged.get(conversation) ?? 0)
    acknowledged.set(conversation, latest)
    await marks.raise(conversation, Math.min(latest, ...[...open.values()].map((other) => other.endedAt - 1)))
  }

  return {
    async list(given) {
      const conversation = toGivenId("session", given, "conversation")
      const since = await marks.read(conversation)
      if (since === undefined && !expected) await marks.raise(conversation, now())
      const ended = since === undefined ? [] : await readEnded(since)
      const own = expected ? [...(await selectOwn(ended, conversation)), ...(await readExpected(expected))] : ended
      const listed = own.toSorted((one, other) => one.endedAt - other.endedAt)
      for (const task of listed) open.set(task.id, task)
      return listed
    },
    begin: (task) => void open.set(task.id, task),
    acknowledge(task) {
      const { id, session } = task
      open.delete(id)
      expected?.remove(id)
      if (expected && session === null) return
      keeping = keeping.then(() => raise(task)).catch(() => {})
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
