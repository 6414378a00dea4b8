import type { MissingAbility } from "../plugin/worker-view.ts"
import type { SessionId, TaskId } from "../task/id.ts"
import { LIVE_STATUSES } from "../task/lifecycle.ts"
import { WAITING_FOR_TASKS } from "../task/progress.ts"
import { type TaskRecord, type TaskSummary, WORK_KINDS } from "../task/record.ts"
import { findAncestors } from "./asking-place.ts"
import type { DeskScope } from "./desk-options.ts"
import type { Inbox, InboxItem } from "./inbox.ts"
import { listAll } from "./list-all.ts"

/** A task that cannot go on by itself, and why. */
export type BlockedTask = { readonly task: TaskSummary } & (
  | { readonly because: "question"; readonly questions: readonly InboxItem[] }
  | { readonly because: "missing"; readonly missing: MissingAbility }
)

/** Reasons by task. */
type Questions = ReadonlyMap<TaskId, readonly InboxItem[]>

export interface Blocked {
  /** Everything that is blocked, newest first: by a question, or because no worker that lives can run it. */
  list(): Promise<readonly BlockedTask[]>
  /**
   * The tasks that only a person's answer brings on, with the questions that hold them up: tasks that ask, agents that stand
   * still until such a task has its answer, and agents that wait for nothing but blocked tasks.
   */
  byQuestion(): Promise<Questions>
}

interface BlockedScope extends Pick<DeskScope, "workspace"> {
  readonly store: Pick<DeskScope["store"], "task">
  readonly tasks: Pick<DeskScope["tasks"], "list">
}

export function createBlocked({ workspace, store, tasks }: BlockedScope, inbox: Pick<Inbox, "list">): Blocked {
  const byQuestion = async (): Promise<Questions> => {
    const items = await inbox.list()
    const lines = await Promise.all(items.map(async (item) => ({ item, above: await findAncestors(store, item.task) })))
    const blocked = new Map(items.map((item) => [item.task.id, new Set([item])]))
    const isAllBlocked = async (session: SessionId): Promise<boolean> => {
      const work = listAll(tasks, { workspace, session, kinds: WORK_KINDS, statuses: LIVE_STATUSES })
      for await (const { id } of work) if (!blocked.has(id)) return false
      return true
    }
    // A task that one question holds up may be all that an agent above another question waits for.
    for (let hasChanged = true; hasChanged; ) {
      hasChanged = false
      for (const line of lines) if (await markAbove(line, blocked, isAllBlocked)) hasChanged = true
    }
    return new Map([...blocked].map(([id, questions]) => [id, items.filter((item) => questions.has(item))]))
  }
  return {
    byQuestion,
    async list() {
      const questions = await byQuestion()
      const found: BlockedTask[] = []
      for await (const task of listAll(tasks, { workspace, statuses: LIVE_STATUSES })) {
        const { missing, ...summary } = task
        const asked = questions.get(task.id)
        if (asked) found.push({ task: summary, because: "question", questions: asked })
        else if (missing) found.push({ task: summary, because: "missing", missing })
      }
      return found
    },
  }
}

interface Line {
  readonly item: InboxItem
  /** The ancestors of the task that asks, the nearest first. */
  readonly above: readonly TaskRecord[]
}

/** Marks the ancestors that the question holds up; true if one was not marked with it before. */
async function markAbove(
  { item, above }: Line,
  blocked: Map<TaskId, Set<InboxItem>>,
  isAllBlocked: (session: SessionId) => Promise<boolean>,
): Promise<boolean> {
  let standsStill = item.question.about === "question"
  let below = item.task
  let hasChanged = false
  for (const task of above) {
    // The task below an agent belongs to the agent's own conversation.
    const session = task.kind === "agent" && task.progress?.phase === WAITING_FOR_TASKS ? below.session : null
    const isHeldUp = standsStill || (session !== null && (await isAllBlocked(session)))
    if (isHeldUp && !blocked.get(task.id)?.has(item)) {
      blocked.set(task.id, (blocked.get(task.id) ?? new Set()).add(item))
      hasChanged = true
    }
    if (task.kind === "agent") standsStill = false
    below = task
  }
  return hasChanged
}
