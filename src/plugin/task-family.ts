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

type Parent = Pick<TaskSummary, "id" | "hasChildren">

/**
 * Tasks that were started below others, at any depth and through turns, which are among them: level by level, until `most`
 * are found or there are no more.
 */
export async function findBelow<Task extends Parent>(
  readChildren: (parentTask: TaskId) => Promise<readonly Task[]>,
  parents: readonly Parent[],
  most = Number.POSITIVE_INFINITY,
): Promise<readonly Task[]> {
  const found: Task[] = []
  for (let level = parents; level.length > 0 && found.length < most; ) {
    const families = level.filter(({ hasChildren }) => hasChildren)
    const next = (await Promise.all(families.map(({ id }) => readChildren(id)))).flat()
    found.push(...next)
    level = next
  }
  return found
}

/** As `findBelow`, by the list that front ends have. At most a few hundred. */
export function listBelow(list: ListTasks, parents: readonly Parent[]): Promise<readonly ListedTask[]> {
  const readChildren = async (parentTask: TaskId) => (await list({ parentTask }, { limit: PAGE_SIZE })).items
  return findBelow(readChildren, parents, MOST_BELOW)
}

/** The work below a task, without turns, each after the task that started it. */
export async function placeBelow(list: ListTasks, parent: Parent): Promise<readonly PlacedTask<ListedTask>[]> {
  const below = await listBelow(list, [parent])
  return placeTasks(
    below.filter(({ kind }) => kind !== "turn"),
    below.filter(({ kind }) => kind === "turn"),
  )
}
