import { MeanwhileError } from "../../base/error.ts"
import { countOf, formatDuration, formatLeft, shortId, type Task } from "../format/format.ts"
import { formatPlace, type WorkerRow } from "../format/format-worker.ts"
import { formatTaskRow } from "../format/format-task-row.ts"
import { formatTaskView } from "../format/format-task-view.ts"
import { formatAsked } from "../question/inbox.ts"
import { type Command, splitLine, type TaskContext, toUnknownArgument } from "./command.ts"
import { describeLack } from "./describe-lack.ts"

const ROWS_SHOWN = 20
const UNREPEATED: ReadonlySet<Task["status"]> = new Set(["queued", "running", "waiting", "stopping", "completed"])

type Counts = Awaited<ReturnType<TaskContext["desk"]["tasks"]["counts"]>>

export const tasksCommand: Command<TaskContext> = {
  name: "tasks",
  usage: "tasks [all]",
  summary: `list the newest ${ROWS_SHOWN} tasks; \`all\` with the turns of conversations`,
  async run(argument, { desk, screen, prefix }) {
    const isOfAll = argument.toLowerCase() === "all"
    if (argument !== "" && !isOfAll) throw toUnknownArgument(tasksCommand.usage, argument, "; /task ID shows one")
    const { rows, hasMore } = await desk.tasks.outline(isOfAll ? {} : { kinds: "work" }, ROWS_SHOWN)
    if (rows.length === 0) {
      const example = prefix === "/" ? ": try /run sleep 15" : ""
      return screen.print(`No tasks yet. What takes long becomes one${example}.`)
    }
    screen.print(rows.map((row) => formatTaskRow(row, desk.now(), screen.columns)).join("\n"))
    if (hasMore) screen.print(`(the newest ${ROWS_SHOWN}; there are more)`)
    const questions = new Set(rows.flatMap(({ heldUpBy }) => heldUpBy.map(({ id }) => id))).size
    const wait = questions === 1 ? "waits" : "wait"
    if (questions > 0) screen.print(`${countOf(questions, "question")} ${wait} for your answer: see ${prefix}inbox`)
    // Only live tasks are counted: that is quick, however many have ended.
    const counts = formatCounts(await desk.tasks.counts({ kinds: "work", statuses: "live" }))
    if (counts !== "") screen.print(screen.style.dim(counts))
    const keepers = (await desk.workers.list()).filter(({ endsWhenIdle }) => endsWhenIdle)
    for (const keeper of keepers) screen.print(screen.style.dim(describeKeeper(keeper)))
  },
}

/** A process that the person did not start by hand. */
function describeKeeper(keeper: WorkerRow): string {
  const work = keeper.running === 1 ? "1 task" : `${keeper.running} tasks`
  return `A keeper (${formatPlace(keeper)}) runs ${work}, and ends when nothing is left that it could do.`
}

/** `2 running, 5 queued (the oldest for 3 min 2 s)`; empty when there is nothing to count. */
export function formatCounts({ byStatus, queueAgeMs }: Counts): string {
  const { running, queued, waiting, stopping, ...ended } = byStatus
  const age = queueAgeMs === null ? "" : ` (the oldest for ${formatDuration(queueAgeMs)})`
  return Object.entries({ running, queued, waiting, stopping, ...ended })
    .filter(([, count]) => count > 0)
    .map(([status, count]) => `${count} ${status.replaceAll("_", " ")}${status === "queued" ? age : ""}`)
    .join(", ")
}

export const taskCommand: Command<TaskContext> = {
  name: "task",
  usage: "task ID",
  summary: "show a task; the first characters of its id are enough",
  async run(id, { desk, screen, prefix }) {
    refuseMore(id, taskCommand.usage)
    if (!requireId(id, "task", screen)) return
    const details = await desk.tasks.details(id)
    screen.print(formatTaskView(details, desk.now()))
    for (const item of details.questions) screen.print(await formatAsked(desk, item, `${prefix}answer`, screen))
  },
}

export const retryCommand: Command<TaskContext> = {
  name: "retry",
  usage: "retry ID",
  summary: "run a failed, timed out, interrupted or cancelled task again",
  isKept: true,
  async run(id, { desk, screen, announceEnd }) {
    refuseMore(id, retryCommand.usage)
    if (!requireId(id, "retry", screen)) return
    const { task: before } = await desk.tasks.find(id)
    requireRepeatable(before)
    const task = await desk.tasks.retry(before.id, { folder: process.cwd() })
    const lack = await describeLack(desk, task)
    const isAsked = task.status === "waiting"
    const standing = isAsked ? "waits for your answer" : `is ${task.status}; its end will be announced`
    screen.print(`[${shortId(task.id)}] run ${task.run} ${standing}${lack}${formatLeft(before)}`)
    announceEnd(task.id)
  },
}

/** Refuses a task whose status allows no other run, by its short id. The runtime refuses it for all other reasons. */
function requireRepeatable({ id, kind, status }: Task): void {
  if (kind === "turn" || !UNREPEATED.has(status)) return
  const message = `[${shortId(id)}] is ${status}: only failed, timed out, interrupted and cancelled tasks run again.`
  throw new MeanwhileError("wrong_state", message)
}

/** Refuses words behind the id. */
function refuseMore(argument: string, usage: string): void {
  const { argument: more } = splitLine(argument)
  if (more !== "") throw toUnknownArgument(usage, more)
}

export function requireId(id: string, command: string, screen: TaskContext["screen"]): boolean {
  if (id !== "") return true
  screen.print(`Say which task: /${command} ID. /tasks lists them.`)
  return false
}
