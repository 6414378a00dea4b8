import { isMeanwhileError, MeanwhileError } from "../../base/error.ts"
import { formatEnd, shortId, type Task, toLine } from "../format/format.ts"
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

async function cancelTask(before: Task, { desk, screen, signal, announceEnd }: TaskContext): Promise<void> {
  if ("endedAt" in before) {
    throw new MeanwhileError("wrong_state", `[${shortId(before.id)}] has ended already: ${formatEnd(before)}`)
  }
  const { id: taskId } = await desk.tasks.cancel(before.id, { by: "person" })
  screen.print(`[${shortId(taskId)}] stopping…`)
  announceEnd(taskId)
  await desk.tasks.wait(taskId, { waitMs: LONGEST_STOP_MS, signal })
}

async function cancelGroup(group: Group, { desk, screen, signal, announceEnd }: TaskContext): Promise<void> {
  if (group.state === "joined" || group.state === "cancelled") {
    throw new MeanwhileError("wrong_state", `${toGroupTitle(group)} is ${group.state} already.`)
  }
  const live = desk.tasks.each({ group: group.id, statuses: "stoppable" })
  const items = await Array.fromAsync(live)
  await desk.groups.cancel(group.id, { by: "person" })
  screen.print(`${toGroupTitle(group)} is cancelled${items.length > 0 ? "; stopping its tasks…" : "."}`)
  for (const { id } of items) announceEnd(id)
  await Promise.all(items.map(({ id }) => desk.tasks.wait(id, { waitMs: LONGEST_STOP_MS, signal })))
}

function describeBoth(wanted: string, task: Task, group: Group): string {
  return `${wanted} is both task [${shortId(task.id)}] and ${toGroupTitle(group)}. Give more of the id that you mean.`
}
