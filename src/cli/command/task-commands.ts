import { isAskedElsewhere } from "../asked-place.ts"
import { findFirstStart } from "../first-start.ts"
import { BACKGROUND_KINDS, formatLeft, shortId, type TaskId, type TaskRow } from "../format.ts"
import { formatRow, type RowStanding } from "../format-row.ts"
import { formatView, type TaskQuestion } from "../format-view.ts"
import type { WorkerRow } from "../format-worker.ts"
import { describeAsked, formatQuestion, openQuestions } from "../inbox.ts"
import { findAbove } from "../tasks-above.ts"
import { type Command, splitLine, type TaskContext } from "./command.ts"
import { describeLack } from "./describe-lack.ts"
import { countLive, formatCounts } from "./task-counts.ts"
import { toUnknownArgument } from "./unknown-argument.ts"

const ROWS_SHOWN = 20

export const tasksCommand: Command<TaskContext> = {
  name: "tasks",
  usage: "tasks [all]",
  summary: `list the newest ${ROWS_SHOWN} tasks; \`all\` with the turns of conversations`,
  async run(argument, { meanwhile, screen, prefix }) {
    const isOfAll = argument.toLowerCase() === "all"
    if (argument !== "" && !isOfAll) throw toUnknownArgument(tasksCommand.usage, argument, "; /task ID shows one")
    const filter = isOfAll ? {} : { kinds: BACKGROUND_KINDS }
    const { items, cursor } = await meanwhile.tasks.list(filter, { limit: ROWS_SHOWN })
    if (items.length === 0) {
      const example = prefix === "/" ? ": try /run sleep 15" : ""
      screen.print(`No tasks yet. What takes long becomes one${example}.`)
      return
    }
    const workers = items.some((row) => "worker" in row) ? await meanwhile.tasks.workers() : []
    const rows = items.map(async (row) =>
      formatRow(row, await findStanding(row, meanwhile, workers), meanwhile.engine.now(), screen.columns),
    )
    screen.print((await Promise.all(rows)).join("\n"))
    if (cursor !== undefined) screen.print(`(the newest ${ROWS_SHOWN}; there are more)`)
    const counts = formatCounts(await countLive(meanwhile))
    if (counts !== "") screen.print(screen.style.dim(counts))
  },
}

async function findStanding(
  row: TaskRow,
  meanwhile: TaskContext["meanwhile"],
  workers: readonly WorkerRow[],
): Promise<RowStanding> {
  const { engine } = meanwhile
  const [firstStartedAt, placeInQueue, group] = await Promise.all([
    findFirstStart(meanwhile, row),
    row.status === "queued" && !row.missing ? engine.store.placeInQueue(row.id) : undefined,
    row.group ? engine.store.group(row.group) : undefined,
  ])
  const worker = "worker" in row ? workers.find(({ id }) => id === row.worker) : undefined
  return {
    placeInQueue: placeInQueue ?? null,
    groupName: group?.name ?? null,
    worker: worker ?? null,
    ...(firstStartedAt !== undefined && { firstStartedAt }),
  }
}

export const taskCommand: Command<TaskContext> = {
  name: "task",
  usage: "task ID",
  summary: "show what is known about a task; the first characters of its id are enough",
  async run(id, { meanwhile, screen, prefix }) {
    refuseMore(id, taskCommand.usage)
    if (!requireId(id, "task", screen)) return
    const view = await meanwhile.tasks.get(id)
    const group = view.task.group ? await meanwhile.engine.store.group(view.task.group) : undefined
    const questions = await findQuestionsOf(meanwhile, view.task.id)
    const firstStartedAt = await findFirstStart(meanwhile, view.task)
    screen.print(formatView(view, { group, questions, firstStartedAt }, meanwhile.engine.now()))
    for (const { question, task } of questions) {
      const about = await describeAsked(meanwhile, question, task)
      screen.print(formatQuestion(question, `${prefix}answer`, about))
    }
  },
}

/** What waits for a person before the task can go on: itself, or something that was started below it. */
async function findQuestionsOf(meanwhile: TaskContext["meanwhile"], id: TaskId): Promise<readonly TaskQuestion[]> {
  const found = await Promise.all(
    (await openQuestions(meanwhile)).map(async (question) => {
      const isOwn = question.taskId === id
      const isBelow = isOwn || (await findAbove(meanwhile, question.taskId)).some((above) => above.id === id)
      return isBelow ? { question, task: await meanwhile.engine.store.task(question.taskId) } : undefined
    }),
  )
  return found.filter((one) => one !== undefined)
}

export const retryCommand: Command<TaskContext> = {
  name: "retry",
  usage: "retry ID",
  summary: "run a task that failed, timed out or was stopped again",
  isKept: true,
  async run(id, { meanwhile, screen, announceEnd }) {
    refuseMore(id, retryCommand.usage)
    if (!requireId(id, "retry", screen)) return
    const { task: before } = await meanwhile.tasks.get(id)
    if (await isAskedElsewhere(meanwhile, before)) meanwhile.tasks.leaveToOthers(before.id)
    const task = await meanwhile.tasks.retry(before.id)
    const lack = await describeLack(meanwhile, task)
    screen.print(
      `[${shortId(task.id)}] run ${task.run} is ${task.status}; its end will be announced${lack}${formatLeft(before)}`,
    )
    announceEnd(task.id)
  },
}

/** Behind the id. */
function refuseMore(argument: string, usage: string): void {
  const { argument: more } = splitLine(argument)
  if (more !== "") throw toUnknownArgument(usage, more)
}

export function requireId(id: string, command: string, screen: TaskContext["screen"]): boolean {
  if (id !== "") return true
  screen.print(`Say which task: /${command} ID. /tasks lists them.`)
  return false
}
