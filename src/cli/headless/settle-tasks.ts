import { findBlocked } from "../blocked-tasks.ts"
import { findFirstStart } from "../first-start.ts"
import { formatAnnouncement, isQuestionTask, shortId, type Task, type TaskId, toLine } from "../format.ts"
import { formatResultHead } from "../format-result.ts"
import { describeAsked, formatQuestion } from "../inbox.ts"
import type { Screen } from "../screen/screen.ts"
import { describeRunner, describeHandoff } from "../handoff.ts"
import { findOwnQuestions, findOwnTasks, isLive, type OwnTasksScope } from "./own-tasks.ts"

/** How often a task that has not ended is looked at: it may need a person by now. */
const LOOK_EVERY_MS = 1_000

export interface SettlingScope extends OwnTasksScope {
  /** How the program is called for this store. */
  readonly words: string
  readonly screen: Screen
  /** What it came to is told by the agent itself. */
  readonly isReported: (task: Task) => Promise<boolean>
  /** Resolves when no report is due. */
  readonly reported: (signal: AbortSignal) => Promise<void>
}

/** What is left: nothing, something that only a person can bring on, or something that nobody waited for. */
export type LeftWork = "none" | "questions" | "running"

/** Waits until every task has ended or needs a person, and everything was reported. Costs no tokens but those of reports. */
export async function settleTasks(scope: SettlingScope, signal: AbortSignal): Promise<LeftWork> {
  const told = new Set<string>()
  for (;;) {
    if (signal.aborted) return "running"
    const going = await look(scope, told)
    if (going.length > 0) {
      await Promise.all(going.map((id) => scope.meanwhile.tasks.result(id, { waitMs: LOOK_EVERY_MS, signal })))
      continue
    }
    await scope.reported(signal)
    if (signal.aborted) return "running"
    // A report may have started more.
    if ((await look(scope, told)).length > 0) continue
    return (await findOwnQuestions(scope)).length > 0 ? "questions" : "none"
  }
}

/** Tells what is new, and returns what goes on by itself and will end. */
async function look(scope: SettlingScope, told: Set<string>): Promise<readonly TaskId[]> {
  const tasks = await findOwnTasks(scope)
  for (const task of tasks) {
    if (isLive(task) || told.has(task.id)) continue
    told.add(task.id)
    if (!isQuestionTask(task)) await tellEnd(scope, task)
  }
  for (const question of await findOwnQuestions(scope)) {
    if (told.has(question.taskId)) continue
    told.add(question.taskId)
    const asking = await scope.meanwhile.engine.store.task(question.taskId)
    const about = await describeAsked(scope.meanwhile, question, asking)
    scope.screen.print(formatQuestion(question, `${scope.words} tasks answer`, about))
  }
  const queued = tasks.filter(({ id, status }) => status === "queued" && !told.has(toLackOf(id)))
  for (const { id, title } of queued) {
    const { missing } = await scope.meanwhile.tasks.get(id)
    if (!missing) continue
    told.add(toLackOf(id))
    scope.screen.print(`[${shortId(id)}] is queued and waited for: ${toLine(missing.text)} (${toLine(title)})`)
  }
  const blocked = await findBlocked(scope.meanwhile)
  return tasks
    .filter((task) => isLive(task) && task.lifetime !== "forever" && !blocked.has(task.id))
    .map(({ id }) => id)
}

/** Told apart from its end. */
const toLackOf = (id: TaskId): string => `what ${id} lacks`

async function tellEnd({ meanwhile, screen, isReported }: SettlingScope, task: Task): Promise<void> {
  const head = (await isReported(task)) ? "" : formatResultHead(task)
  screen.print(`${formatAnnouncement(task, await findFirstStart(meanwhile, task))}${head === "" ? "" : `\n${head}`}`)
}

/** Says what the end of the program does to what nobody waits for. */
export async function leaveTasks(scope: OwnTasksScope & Pick<SettlingScope, "screen" | "words">): Promise<void> {
  for (const task of (await findOwnTasks(scope)).filter(isLive)) {
    scope.screen.print(`[${shortId(task.id)}] ${await describeFate(scope, task)}: ${toLine(task.title)}`)
  }
}

type FateScope = Pick<SettlingScope, "meanwhile" | "words">

async function describeFate({ meanwhile, words }: FateScope, task: Task): Promise<string> {
  const { id, kind, lifetime, status } = task
  if (lifetime === "forever") return `goes on without Meanwhile (${words} tasks show ${shortId(id)})`
  if (status === "waiting") return `waits for an answer (${words} tasks inbox)`
  const { worker } = await meanwhile.tasks.get(id)
  if (worker && worker.where !== "process") return `goes on ${describeRunner(worker)}`
  if (status === "queued" || kind !== "tool") return `goes on ${await describeHandoff(meanwhile, task)}`
  return "is stopped at exit"
}
