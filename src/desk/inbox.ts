import { MeanwhileError } from "../base/error.ts"
import type { JsonValue } from "../base/json.ts"
import { lookUntil } from "../base/look-until.ts"
import { isForPerson } from "../runner/result/wait-subject.ts"
import { isIdText, toGivenId } from "../task/given-id.ts"
import type { TaskId, WaitId } from "../task/id.ts"
import type { TaskRecord } from "../task/record.ts"
import type { TaskStore } from "../task/store.ts"
import type { WaitRecord } from "../task/wait.ts"
import { findAncestors, isAskedElsewhere } from "./asking-place.ts"
import type { DeskScope } from "./desk-options.ts"
import { follow } from "../base/follow.ts"
import { type InboxQuestion, toInboxQuestion } from "./question.ts"

/** One thing that waits for a person. */
export interface InboxItem {
  readonly id: WaitId
  /** The task that cannot go on before the answer. */
  readonly task: TaskRecord
  readonly question: InboxQuestion
  readonly openedAt: number
  /** When the time to answer is over, the answer is `onExpiry`. Null if there is no such time. */
  readonly expiresAt: number | null
  readonly onExpiry: JsonValue
}

export interface AnswerOptions {
  /**
   * The folder of the program that answers. A task that was asked for in another folder, or on another machine, is then
   * left to the processes there. Without this option, a runtime that takes only its own work runs here what is answered
   * here.
   */
  readonly folder?: string
}

/** The questions and approvals of one workspace that wait for a person. */
export interface Inbox {
  /** Oldest first. */
  list(): Promise<readonly InboxItem[]>
  /** The item of this task itself; undefined if it waits for no person. */
  of(task: string): Promise<InboxItem | undefined>
  /** The items of this task and of tasks below it. */
  below(task: string): Promise<readonly InboxItem[]>
  /** The items of this session's tasks and of tasks below them. */
  inSession(session: string): Promise<readonly InboxItem[]>
  /**
   * The whole list now, and again whenever it has changed, whichever process changed it. Ends with the signal or with the
   * runtime, and keeps the process alive until then.
   */
  follow(signal: AbortSignal): AsyncGenerator<readonly InboxItem[], void>
  /**
   * Answers by the id of an item, or by that of its task, of which a prefix is enough. `true` and `false` answer a
   * question of the kind `approval`, as `"yes"` and `"no"` do; a no to a `call` may be a text that says why (`"no, use
   * pnpm"`). Any other answer to it is refused as `invalid_input`, and the question stays open. The first answer counts: a
   * later one is refused as `wrong_state`, also when the task asks something else by then.
   */
  answer(id: string, answer: JsonValue, options?: AnswerOptions): Promise<TaskRecord>
}

/** Wake-ups may be lost: after so long the inbox is read again in any case. */
const LOOK_EVERY_MS = 5_000

interface InboxScope extends Pick<DeskScope, "workspace" | "actor" | "clock" | "closing" | "isShared"> {
  readonly store: Pick<DeskScope["store"], "waits" | "wait" | "task">
  readonly tasks: Pick<DeskScope["tasks"], "get" | "answer" | "leaveToOthers" | "workers">
  readonly bus: Pick<DeskScope["bus"], "subscribe">
}

export function createInbox(scope: InboxScope): Inbox {
  const { workspace, store, tasks, closing } = scope
  const readWaits = async (taskId?: TaskId): Promise<readonly WaitRecord[]> =>
    (await store.waits({ workspace, isOpen: true, ...(taskId && { taskId }) })).filter(({ reason }) =>
      isForPerson(reason),
    )
  const readItems = async (taskId?: TaskId): Promise<readonly InboxItem[]> => {
    const items = await Promise.all((await readWaits(taskId)).map((wait) => toItem(store, wait)))
    return items.filter((item) => item !== undefined)
  }
  const selectItems = async (isMeant: (task: TaskRecord) => boolean): Promise<readonly InboxItem[]> => {
    const items = await readItems()
    const lines = await Promise.all(items.map(async ({ task }) => [task, ...(await findAncestors(store, task))]))
    return items.filter((_, index) => lines[index]?.some(isMeant))
  }
  /**
   * Finds a task by its id or by the id of an item, and the item that is open. No item if that one was answered, or none is
   * open.
   */
  const findOpen = async (id: string): Promise<{ readonly task: TaskRecord; readonly item: InboxItem | undefined }> => {
    const wait = isIdText(id) ? await store.wait(toGivenId("wait", id, "id")) : undefined
    const asking = wait?.workspace === workspace ? await store.task(wait.taskId) : undefined
    const task = asking ?? (await tasks.get(id, workspace)).task
    const open = await readItems(task.id)
    // The task may ask something else by now. Somebody who answers by the id of the earlier item has not seen that.
    return { task, item: asking ? open.find((item) => item.id === id) : open[0] }
  }
  return {
    list: () => readItems(),
    of: async (task) => (await readItems(toGivenId("task", task)))[0],
    below: (id) => selectItems((task) => task.id === id),
    inSession: (session) => selectItems((task) => task.session === session),
    follow: (own) => follow([own, closing], (signal) => followItems(scope, readItems, readWaits, signal)),
    async answer(id, answer, { folder } = {}) {
      const { task, item } = await findOpen(id)
      if (!item) {
        const message = `Task ${task.id} does not wait for this answer: it is ${task.status}.`
        throw new MeanwhileError("wrong_state", message, { taskId: task.id, status: task.status })
      }
      const give = () => tasks.answer(item.id, answer, scope.actor, workspace)
      if (folder === undefined || !(await isAskedElsewhere(scope, task, folder))) return give()
      return tasks.leaveToOthers({ taskId: task.id, run: task.run }, give)
    },
  }
}

/** More changed tasks than this are not looked at one by one. */
const MOST_LOOKED_AT = 4

/**
 * A change of a task costs a look at the ids of its items, and a change of many tasks one look at all ids. The whole inbox
 * is read only when the ids differ.
 */
async function* followItems(
  { bus, clock }: Pick<InboxScope, "bus" | "clock">,
  readItems: () => Promise<readonly InboxItem[]>,
  readWaits: (task?: TaskId) => Promise<readonly WaitRecord[]>,
  signal: AbortSignal,
): AsyncGenerator<readonly InboxItem[], void> {
  let known: readonly InboxItem[] | undefined
  /** Tasks that changed since the last look; `all` if it is not known which. */
  let changed: Set<TaskId> | "all" = "all"

  async function hasChanged(ids: ReadonlySet<TaskId>): Promise<boolean> {
    const tasks = ids.size > MOST_LOOKED_AT ? [undefined] : [...ids]
    const now = await Promise.all(tasks.map((taskId) => readWaits(taskId)))
    return tasks.some((taskId, index) => {
      const before = known?.filter(({ task }) => taskId === undefined || task.id === taskId) ?? []
      return toIds(now[index] ?? []) !== toIds(before)
    })
  }
  const watch = {
    clock,
    pollMs: LOOK_EVERY_MS,
    signals: [signal],
    keepsProcessAlive: true,
    subscribe: (wake: () => void): (() => void) =>
      bus.subscribe((heard) => {
        if (heard.about === "unknown") changed = "all"
        else if (heard.about !== "task") return
        else if (changed !== "all") changed.add(heard.taskId)
        wake()
      }),
    onPoll() {
      changed = "all"
    },
    async look(): Promise<readonly InboxItem[] | undefined> {
      const since = changed
      changed = new Set()
      if (since !== "all" && !(await hasChanged(since))) return undefined
      const items = await readItems()
      const isKnown = known !== undefined && toIds(items) === toIds(known)
      known = items
      return isKnown ? undefined : items
    },
  }
  for (;;) {
    const items = await lookUntil(watch)
    if (!items) return
    yield items
    // No wake-up was heard while the reader had the list.
    changed = "all"
  }
}

const toIds = (items: readonly { readonly id: WaitId }[]): string => items.map(({ id }) => id).join()

/** Undefined: the task was removed meanwhile. */
async function toItem(store: Pick<TaskStore, "task">, wait: WaitRecord): Promise<InboxItem | undefined> {
  const { id, taskId, openedAt, expiresAt, onExpiry } = wait
  const task = await store.task(taskId)
  return task && { id, task, question: toInboxQuestion(wait, task), openedAt, expiresAt, onExpiry }
}
