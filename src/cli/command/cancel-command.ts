import { isMeanwhileError, MeanwhileError } from "../../base/error.ts"
import type { TaskBranch } from "../../desk/task-tree.ts"
import { formatEnd, shortId, type Task, type TaskId, toLine } from "../format/format.ts"
import { type Group, toGroupTitle } from "../format/format-group.ts"
import type { Command, TaskContext } from "./command.ts"
import { requireId } from "./task-commands.ts"

/** Longer than any stop takes, with its grace period, its SIGKILL, and giving up. */
const LONGEST_STOP_MS = 60_000

export const cancelCommand: Command<TaskContext> = {
  name: "cancel",
  usage: "cancel ID|GROUP",
  summary: "cancel a task and everything it started, or a whole group by its name or id",
  isKept: true,
  async run(wanted, context) {
    if (!requireId(wanted, "cancel", context.screen)) return
    const group = await context.desk.groups.find(wanted)
    const task = await findTask(context, wanted, group !== undefined)
    if (group && task) return context.screen.print(describeBoth(wanted, task, group))
    if (group) await cancelGroup(group, context)
    else if (task) await cancelTask(task, context)
  },
}

/** Undefined: no task has this id, but a group has it. Refused as `not_found` if neither has. */
async function findTask({ desk, prefix }: TaskContext, id: string, hasOther: boolean): Promise<Task | undefined> {
  try {
    return (await desk.tasks.find(id)).task
  } catch (error) {
    if (!isMeanwhileError(error, "not_found")) throw error
    if (hasOther) return undefined
    const lists = prefix === "/" ? "/tasks and /groups" : `${prefix}list and ${prefix}groups`
    const message = `There is no task and no group ${JSON.stringify(toLine(id))}. ${lists} list what there is.`
    throw new MeanwhileError("not_found", message)
  }
}

async function cancelTask(before: Task, context: TaskContext): Promise<void> {
  const { desk, screen, prefix, signal, announceEnd } = context
  if ("endedAt" in before) {
    throw new MeanwhileError("wrong_state", `[${shortId(before.id)}] has ended already: ${formatEnd(before)}`)
  }
  const { id: taskId } = await desk.tasks.cancel(before.id, { by: "person" })
  screen.print(`[${shortId(taskId)}] stopping…`)
  announceEnd(taskId)
  const [{ outlived }] = await Promise.all([
    desk.tasks.wait(taskId, { waitMs: LONGEST_STOP_MS, signal }),
    waitBelow([taskId], context),
  ])
  for (const id of outlived) {
    screen.print(
      `[${shortId(id)}] goes on: its parent was stopped, it was not. To stop it: ${prefix}cancel ${shortId(id)}`,
    )
  }
}

async function cancelGroup(group: Group, context: TaskContext): Promise<void> {
  const { desk, screen, signal, announceEnd } = context
  if (group.state === "joined" || group.state === "cancelled") {
    throw new MeanwhileError("wrong_state", `${toGroupTitle(group)} is ${group.state} already.`)
  }
  const live = desk.tasks.each({ group: group.id, statuses: "stoppable" })
  const items = await Array.fromAsync(live)
  await desk.groups.cancel(group.id, { by: "person" })
  screen.print(`${toGroupTitle(group)} is cancelled${items.length > 0 ? "; stopping its tasks…" : "."}`)
  for (const { id } of items) announceEnd(id)
  const ids = items.map(({ id }) => id)
  await Promise.all([
    ...ids.map((id) => desk.tasks.wait(id, { waitMs: LONGEST_STOP_MS, signal })),
    waitBelow(ids, context),
  ])
}

/** Waits for what the stop of these tasks has stopped below them, and names what still runs after that. */
async function waitBelow(ids: readonly TaskId[], { desk, screen, signal }: TaskContext): Promise<void> {
  const branches = (await Promise.all(ids.map((id) => desk.tasks.below(id)))).flat()
  const stopping = listTasks(branches).filter(({ status }) => status === "stopping")
  const waits = stopping.map(({ id }) => desk.tasks.wait(id, { waitMs: LONGEST_STOP_MS, signal }))
  for (const { task } of await Promise.all(waits)) {
    if ("endedAt" in task) continue
    const rest = "its worker, or the next chat or worker, brings it to its end"
    screen.print(`[${shortId(task.id)}] below it is still ${task.status} and may still run: ${rest}`)
  }
}

function listTasks(branches: readonly TaskBranch[]): readonly Pick<Task, "id" | "status">[] {
  return branches.flatMap((branch) =>
    branch.type === "task" ? [branch.task, ...listTasks(branch.below)] : listTasks(branch.members),
  )
}

function describeBoth(wanted: string, task: Task, group: Group): string {
  return `${wanted} is both task [${shortId(task.id)}] and ${toGroupTitle(group)}. Give more of the id that you mean.`
}
