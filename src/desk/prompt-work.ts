import { lookUntil } from "../base/look-until.ts"
import type { MissingAbility } from "../plugin/worker-view.ts"
import { toGivenId } from "../task/given-id.ts"
import type { TaskId } from "../task/id.ts"
import { isTerminal } from "../task/lifecycle.ts"
import type { TaskRecord } from "../task/record.ts"
import type { Blocked } from "./blocked.ts"
import type { DeskScope } from "./desk-options.ts"
import { follow } from "../base/follow.ts"
import type { Inbox, InboxItem } from "./inbox.ts"
import { isQuestionTask } from "./question.ts"
import type { DeskTasks } from "./tasks.ts"

/** How often everything is read again without a wake-up: a new task may have started, or a task may need a person. */
const LOOK_EVERY_MS = 1_000

/** One message, and the tasks that it is known to have led to. */
export interface Prompt {
  readonly session: string
  /** When it was said. */
  readonly saidAt: number
  /** Tasks that were seen to go to the background meanwhile, those of subagents too. */
  readonly started: ReadonlySet<string>
}

/**
 * The work that is left: none, work that only a person's answer brings on, or work that still runs when the wait is ended.
 */
export type LeftWork = "none" | "questions" | "running"

/** The course of a prompt's work, each event told once. The last one says what is left. */
export type WorkEvent =
  /** Not told of a question, which ends with its answer. */
  | { readonly type: "task.ended"; readonly task: TaskRecord }
  | { readonly type: "question.opened"; readonly item: InboxItem }
  /** The task is queued, no question holds it up, and no living worker can run it. */
  | { readonly type: "task.unserved"; readonly task: TaskRecord; readonly missing: MissingAbility }
  | { readonly type: "work.settled"; readonly left: LeftWork }

export interface SettleOptions {
  readonly signal: AbortSignal
  /** Resolves when no report is due. A report may start more work. */
  readonly reported: (signal: AbortSignal) => Promise<void>
}

/** The background work of one prompt, for a program that says one thing, waits for what follows, and ends. */
export interface PromptWork {
  /** The tasks that the prompt has led to, ended or not, and those that lived in the session before. Oldest first. */
  tasks(prompt: Prompt): Promise<readonly TaskRecord[]>
  /** Waits until every task has ended or needs a person, and everything was reported. */
  settle(prompt: Prompt, options: SettleOptions): AsyncGenerator<WorkEvent, void>
}

interface PromptScope extends Pick<DeskScope, "workspace" | "clock" | "closing"> {
  readonly store: Pick<DeskScope["store"], "task">
  readonly bus: Pick<DeskScope["bus"], "subscribeTask">
}

export function createPromptWork(
  scope: PromptScope,
  desk: {
    readonly tasks: Pick<DeskTasks, "each" | "find">
    readonly inbox: Pick<Inbox, "inSession">
    readonly blocked: Pick<Blocked, "byQuestion">
  },
): PromptWork {
  const { workspace, store, closing } = scope
  const listTasks = async ({ session, saidAt, started }: Prompt): Promise<readonly TaskRecord[]> => {
    const filter = { session, kinds: "work" } as const
    const ids = new Set([...started].map((id) => toGivenId("task", id)))
    for await (const { id } of desk.tasks.each({ ...filter, statuses: "live" })) ids.add(id)
    for await (const { id, createdAt } of desk.tasks.each(filter)) {
      if (createdAt < saidAt) break
      ids.add(id)
    }
    const tasks = await Promise.all([...ids].map((id) => store.task(id)))
    return tasks
      .flatMap((task) => (task?.workspace === workspace ? task : []))
      .toSorted((one, other) => one.createdAt - other.createdAt)
  }

  /** The news since the last look, and the tasks that go on by themselves and will end. */
  const look = async (prompt: Prompt, told: Set<string>): Promise<{ events: WorkEvent[]; going: TaskRecord[] }> => {
    const tasks = await listTasks(prompt)
    const events: WorkEvent[] = []
    const isNew = (key: string): boolean => told.size < told.add(key).size
    for (const task of tasks) {
      if (isTerminal(task.status) && !isQuestionTask(task) && isNew(task.id)) events.push({ type: "task.ended", task })
    }
    for (const item of await desk.inbox.inSession(prompt.session)) {
      if (isNew(toQuestionKey(item))) events.push({ type: "question.opened", item })
    }
    const blocked = await desk.blocked.byQuestion()
    for (const task of tasks) {
      if (task.status !== "queued" || blocked.has(task.id) || told.has(toLackOf(task.id))) continue
      const { missing } = await desk.tasks.find(task.id)
      if (missing && isNew(toLackOf(task.id))) events.push({ type: "task.unserved", task, missing })
    }
    const going = tasks.filter(
      ({ id, status, lifetime }) => !isTerminal(status) && lifetime !== "forever" && !blocked.has(id),
    )
    return { events, going }
  }

  async function* settle(prompt: Prompt, { signal, reported }: SettleOptions): AsyncGenerator<WorkEvent, void> {
    const told = new Set<string>()
    while (!signal.aborted) {
      const { events, going } = await look(prompt, told)
      yield* events
      if (going.length > 0) {
        await waitForNews(scope, going, signal)
        continue
      }
      await reported(signal)
      if (signal.aborted) break
      const after = await look(prompt, told)
      yield* after.events
      if (after.going.length > 0) continue
      const questions = await desk.inbox.inSession(prompt.session)
      yield { type: "work.settled", left: questions.length > 0 ? "questions" : "none" }
      return
    }
    yield { type: "work.settled", left: "running" }
  }

  return {
    tasks: listTasks,
    settle: (prompt, { signal: own, reported }) =>
      follow([own, closing], (signal) => settle(prompt, { signal, reported })),
  }
}

/**
 * Resolves when one of these tasks has another status, and after LOOK_EVERY_MS in any case: new tasks may have started.
 * Each saved progress of a task wakes this up, so a wake-up costs one read, of that task.
 */
async function waitForNews(
  { store, bus, clock }: Pick<PromptScope, "store" | "bus" | "clock">,
  going: readonly TaskRecord[],
  signal: AbortSignal,
): Promise<void> {
  const statuses = new Map(going.map(({ id, status }) => [id, status]))
  // The first look reads them all: they may have changed before the subscription.
  let changed = new Set(statuses.keys())
  let isTimeToLook = false
  await lookUntil({
    clock,
    pollMs: LOOK_EVERY_MS,
    signals: [signal],
    keepsProcessAlive: true,
    subscribe(wake) {
      const stops = going.map(({ id }) =>
        bus.subscribeTask(id, () => {
          changed.add(id)
          wake()
        }),
      )
      return () => {
        for (const stop of stops) stop()
      }
    },
    onPoll() {
      isTimeToLook = true
    },
    async look() {
      if (isTimeToLook) return true
      const ids = [...changed]
      changed = new Set()
      const tasks = await Promise.all(ids.map((id) => store.task(id)))
      return ids.some((id, index) => tasks[index]?.status !== statuses.get(id)) || undefined
    },
  })
}

/** True if a task ended badly. False if somebody meant to end it. */
export function hasFailed(task: TaskRecord): boolean {
  switch (task.status) {
    case "failed":
    case "timed_out":
    case "interrupted":
      return true
    case "cancelled":
      return !["person", "model", "parent", "lifetime"].includes(task.stop.by)
    default:
      return false
  }
}

/** A task has one end, and may ask more than once. */
const toQuestionKey = ({ id }: InboxItem): string => `question ${id}`
const toLackOf = (id: TaskId): string => `what ${id} lacks`
