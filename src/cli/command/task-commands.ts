import { BACKGROUND_KINDS, formatEnd, formatRow, shortId } from "../format.ts"
import { formatView } from "../format-view.ts"
import type { Command, TaskContext } from "./command.ts"

const ROWS_SHOWN = 20

export const tasksCommand: Command<TaskContext> = {
  name: "tasks",
  usage: "tasks [all]",
  summary: `list the newest ${ROWS_SHOWN} tasks; \`all\` with the turns of conversations`,
  async run(argument, { meanwhile, screen, prefix }) {
    const filter = argument.toLowerCase() === "all" ? {} : { kinds: BACKGROUND_KINDS }
    const { items, cursor } = await meanwhile.tasks.list(filter, { limit: ROWS_SHOWN })
    if (items.length === 0) {
      const example = prefix === "/" ? ": try /run sleep 15" : ""
      screen.print(`No tasks yet. What takes long becomes one${example}.`)
      return
    }
    const rows = items.map((row) => formatRow(row, Date.now(), screen.columns))
    screen.print(rows.join("\n"))
    if (cursor !== undefined) screen.print(`(the newest ${ROWS_SHOWN}; there are more)`)
  },
}

export const taskCommand: Command<TaskContext> = {
  name: "task",
  usage: "task ID",
  summary: "show what is known about a task; the first characters of its id are enough",
  async run(id, { meanwhile, screen }) {
    if (requireId(id, "task", screen)) screen.print(formatView(await meanwhile.tasks.get(id), Date.now()))
  },
}

export const cancelCommand: Command<TaskContext> = {
  name: "cancel",
  usage: "cancel ID",
  summary: "stop a task and everything it started",
  async run(id, { meanwhile, screen, signal, announceEnd }) {
    if (!requireId(id, "cancel", screen)) return
    const { task: before } = await meanwhile.tasks.get(id)
    if ("endedAt" in before) {
      screen.print(`[${shortId(before.id)}] has ended already: ${formatEnd(before)}`)
      return
    }
    const { id: taskId } = await meanwhile.tasks.cancel(before.id, { by: "person" })
    screen.print(`[${shortId(taskId)}] stopping…`)
    announceEnd(taskId)
    await meanwhile.tasks.result(taskId, { waitMs: LONGEST_STOP_MS, signal })
  },
}

/** Longer than any stop takes: grace, force, and giving up. */
const LONGEST_STOP_MS = 60_000

export const retryCommand: Command<TaskContext> = {
  name: "retry",
  usage: "retry ID",
  summary: "run a task that failed, timed out or was stopped again",
  async run(id, { meanwhile, screen, announceEnd }) {
    if (!requireId(id, "retry", screen)) return
    const task = await meanwhile.tasks.retry(id)
    screen.print(`[${shortId(task.id)}] run ${task.run} is ${task.status}; its end will be announced`)
    announceEnd(task.id)
  },
}

export const clearCommand: Command<TaskContext> = {
  name: "clear",
  usage: "clear",
  summary: "forget every task that has ended, with its output",
  async run(_argument, { meanwhile, screen }) {
    const count = await meanwhile.tasks.clear({ kinds: BACKGROUND_KINDS })
    screen.print(count === 1 ? "1 ended task removed." : `${count} ended tasks removed.`)
  },
}

export function requireId(id: string, command: string, screen: TaskContext["screen"]): boolean {
  if (id !== "") return true
  screen.print(`Say which task: /${command} ID. /tasks lists them.`)
  return false
}
