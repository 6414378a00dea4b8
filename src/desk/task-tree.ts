import type { GroupRecord } from "../task/group.ts"
import type { GroupId, TaskId } from "../task/id.ts"
import { findBelow, type PlacedTask, placeTasks } from "../plugin/task-family.ts"
import type { ListedTask } from "../plugin/task-view.ts"
import { readAll } from "../runner/run/task-pages.ts"
import { TASK_KINDS, type TaskKind, type TaskRecord, type TaskSummary } from "../task/record.ts"
import type { TaskFilter, TaskStore } from "../task/store.ts"

/** A task with everything that was started below it, or a group with those of its members that have the same parent. */
export type TaskBranch =
  | { readonly type: "task"; readonly task: TaskSummary; readonly below: readonly TaskBranch[] }
  | { readonly type: "group"; readonly group: GroupRecord; readonly members: readonly TaskBranch[] }

type TreeStore = Pick<TaskStore, "task" | "tasks" | "group">

/** The newest tasks that a filter selects, at most `limit`, each below the tasks that started it. */
export async function readTree(store: TreeStore, filter: TaskFilter, limit: number): Promise<readonly TaskBranch[]> {
  const { items } = await store.tasks(filter, { limit })
  const tasks = new Map<TaskId, TaskSummary>(items.map((task) => [task.id, task]))
  for (const { parentTask } of items) {
    for (let id = parentTask; id !== null && !tasks.has(id); ) {
      const parent = await store.task(id)
      if (!parent) break
      tasks.set(id, toSummary(parent))
      id = parent.parentTask
    }
  }
  return toTaskTree(store, [...tasks.values()])
}

/** Tasks of a list with the tasks of these kinds above them that the list leaves out, each after the task that started it. */
export async function placeWithAbove(
  store: Pick<TaskStore, "task">,
  tasks: readonly ListedTask[],
  kinds: readonly TaskKind[] = TASK_KINDS,
): Promise<readonly PlacedTask<ListedTask>[]> {
  const known = new Map<TaskId, ListedTask>(tasks.map((task) => [task.id, task]))
  for (let level = tasks; level.length > 0; ) {
    const missing = new Set(level.flatMap(({ parentTask }) => (parentTask && !known.has(parentTask) ? parentTask : [])))
    const above = await Promise.all(Array.from(missing, (id) => store.task(id)))
    level = above.flatMap((task) => (task ? toSummary(task) : []))
    for (const task of level) known.set(task.id, task)
  }
  const listed = new Set(tasks)
  const isShown = (task: ListedTask): boolean => listed.has(task) || kinds.includes(task.kind)
  const all = [...known.values()]
  return placeTasks(
    all.filter(isShown),
    all.filter((task) => !isShown(task)),
  )
}

/** Everything that was started below a task, however deep. */
export async function readBelow(store: TaskStore, root: TaskRecord): Promise<readonly TaskBranch[]> {
  return toTaskTree(store, await findBelow((parentTask) => readAll({ store }, { parentTask }), [root]))
}

/**
 * The tasks as a tree. A task whose parent is not among them stands at the top. Siblings of one group are one branch, where
 * the first of them stands; otherwise siblings keep the order in which they are given.
 */
async function toTaskTree(
  store: Pick<TaskStore, "group">,
  tasks: readonly TaskSummary[],
): Promise<readonly TaskBranch[]> {
  const ids = new Set(tasks.map(({ id }) => id))
  const siblings = Map.groupBy(tasks, ({ parentTask }) => (parentTask && ids.has(parentTask) ? parentTask : null))
  const groups = await readGroups(store, tasks)
  const growBelow = (parent: TaskId | null): readonly TaskBranch[] => {
    const branches: TaskBranch[] = []
    const members = new Map<GroupId, TaskBranch[]>()
    for (const task of siblings.get(parent) ?? []) {
      const branch: TaskBranch = { type: "task", task, below: growBelow(task.id) }
      const group = task.group ? groups.get(task.group) : undefined
      const known = group && members.get(group.id)
      if (known) known.push(branch)
      else if (group) {
        const first = [branch]
        members.set(group.id, first)
        branches.push({ type: "group", group, members: first })
      } else branches.push(branch)
    }
    return branches
  }
  return growBelow(null)
}

async function readGroups(
  store: Pick<TaskStore, "group">,
  tasks: readonly TaskSummary[],
): Promise<ReadonlyMap<GroupId, GroupRecord>> {
  const ids = new Set(tasks.flatMap(({ group }) => group ?? []))
  const groups = await Promise.all([...ids].map((id) => store.group(id)))
  return new Map(groups.flatMap((group) => (group ? [[group.id, group]] : [])))
}

/** The task without its parts that may be large, like the tasks beside it. */
function toSummary(task: TaskRecord): TaskSummary {
  const { input: _input, metadata: _metadata, ...rest } = task
  if (!("patch" in rest)) return rest
  const { patch: _patch, ...summary } = rest
  return summary
}
