import type { TaskId } from "../task/id.ts"
import type { TaskSummary } from "../task/record.ts"
import type { TaskFilter } from "../task/store.ts"
import type { ListedTask } from "./task-view.ts"

type Member = Pick<TaskSummary, "id" | "parentTask" | "createdAt">

/** A task of a list, and how many tasks of the list stand above it. */
export interface PlacedTask<Task> {
  readonly task: Task
  /** The nearest task above it in the list; null at the top. */
  readonly above: TaskId | null
  readonly depth: number
}

/**
 * Puts each task after the task that started it, siblings the newest first. `between` are tasks that are not shown, such as
 * turns: what stands below one of them stands below the nearest shown task above it.
 */
export function placeTasks<Task extends Member>(
  tasks: readonly Task[],
  between: readonly Member[] = [],
): readonly PlacedTask<Task>[] {
  const shown = new Set(tasks.map(({ id }) => id))
  const parents = new Map([...between, ...tasks].map(({ id, parentTask }) => [id, parentTask]))
  const findAbove = (task: Task): TaskId | null => {
    let above = task.parentTask
    while (above !== null && !shown.has(above)) above = parents.get(above) ?? null
    return above
  }
  const newestFirst = tasks.toSorted((a, b) => b.createdAt - a.createdAt)
  const siblings = Map.groupBy(newestFirst, findAbove)
  const place = (above: TaskId | null, depth: number): readonly PlacedTask<Task>[] =>
    (siblings.get(above) ?? []).flatMap((task) => [{ task, above, depth }, ...place(task.id, depth + 1)])
  return place(null, 0)
}

const PAGE_SIZE = 1_000
/** More tasks than these below one say no more about it. */
const MOST_BELOW = 500

type ListTasks = (
  filter: TaskFilter,
  page: { readonly limit: number },
) => Promise<{ readonly items: readonly ListedTask[] }>

/** Tasks that were started below others, at any depth and through turns, which are among them. At most a few hundred. */
export async function listBelow(
  list: ListTasks,
  parents: readonly Pick<ListedTask, "id" | "hasChildren">[],
): Promise<readonly ListedTask[]> {
  const found: ListedTask[] = []
  for (let level = parents; level.length > 0 && found.length < MOST_BELOW; ) {
    const families = level.filter(({ hasChildren }) => hasChildren)
    const pages = families.map(({ id }) => list({ parentTask: id }, { limit: PAGE_SIZE }))
    const next = (await Promise.all(pages)).flatMap(({ items }) => items)
    found.push(...next)
    level = next
  }
  return found
}

/** The work below a task, without turns, each after the task that started it. */
export async function placeBelow(
  list: ListTasks,
  parent: Pick<ListedTask, "id" | "hasChildren">,
): Promise<readonly PlacedTask<ListedTask>[]> {
  const below = await listBelow(list, [parent])
  return placeTasks(
    below.filter(({ kind }) => kind !== "turn"),
    below.filter(({ kind }) => kind === "turn"),
  )
}
