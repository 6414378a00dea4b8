import type { Runtime } from "../../app.ts"
import type { Program } from "../../program/open-program.ts"
import { formatAnnouncement, type TaskId, type TaskRow } from "../format.ts"
import { openDesk } from "../person-desk.ts"
import type { Screen } from "../screen/screen.ts"
import type { LastAnnouncement, SessionId } from "./last-announcement.ts"

const MOST_SHOWN = 20
const MOST_LOOKED_AT = 1_000

export interface LeftTasksOptions {
  readonly conversation: SessionId
  readonly meanwhile: Runtime & Pick<Program, "maxConcurrentTasks">
  readonly screen: Screen
  /** Whether a task is one that this chat tells of. */
  readonly concerns: (task: TaskRow) => Promise<boolean>
}

export interface MissedTasksOptions extends LeftTasksOptions {
  readonly last: LastAnnouncement
}

/** Says what ended while nobody watched. */
export async function tellMissed(options: MissedTasksOptions): Promise<void> {
  const { meanwhile, screen, last, concerns, conversation } = options
  const missed = await keep(await last.missed(conversation), concerns)
  const shown = missed.slice(-MOST_SHOWN)
  if (missed.length > shown.length) screen.print(`${missed.length} tasks ended meanwhile; the last of them:`)
  for (const ended of shown) {
    const view = await meanwhile.tasks.get(ended.id).catch(() => undefined)
    if (view)
      screen.print(`Meanwhile: ${formatAnnouncement(view.task, await openDesk(meanwhile).tasks.firstStart(view.task))}`)
    last.remember(ended)
  }
}

/** Says how many tasks go on, here or elsewhere, and returns those to tell of. What waits for a person is told as such. */
export async function tellLive(options: LeftTasksOptions): Promise<readonly TaskId[]> {
  const { meanwhile, screen, concerns, conversation } = options
  const { tasks } = meanwhile
  const desk = openDesk(meanwhile)
  const page = { limit: MOST_LOOKED_AT }
  const { items, cursor } = await desk.tasks.list({ statuses: "live", kinds: "work" }, page)
  const blocked = await desk.blocked.byQuestion()
  const going = items.filter(({ id }) => !blocked.has(id))
  // What waits for something else than a person is taken up here, as what is queued is, unless no tasks are run here.
  const isNobodys = ({ status }: TaskRow): boolean => status === "queued" || status === "waiting"
  const isLeft = (row: TaskRow): boolean => meanwhile.maxConcurrentTasks === 0 && isNobodys(row)
  const left = going.filter(isLeft).length
  const here = going.filter((row) => (isNobodys(row) && !isLeft(row)) || tasks.runsHere(row.id)).length
  const elsewhere = going.length - here - left
  if (here > 0) screen.print(`${here === 1 ? "1 task goes" : `${here} tasks go`} on from before: see /tasks`)
  if (left > 0) screen.print(`${left === 1 ? "1 task is" : `${left} tasks are`} left to workers: see /tasks`)
  if (elsewhere > 0) {
    const count = elsewhere === 1 ? "1 task runs" : `${elsewhere}${cursor ? " or more" : ""} tasks run`
    screen.print(`${count} elsewhere: see /tasks`)
  }
  // A team may have begun more than was looked at since the conversation's own tasks.
  const own = cursor ? await findLive(meanwhile, conversation) : []
  return [...new Set((await keep([...own, ...items], concerns)).map(({ id }) => id))]
}

/** Of the conversation itself, without those of its agents. */
export function findLive(meanwhile: Pick<Runtime, "desk">, session: SessionId): Promise<readonly TaskRow[]> {
  return Array.fromAsync(openDesk(meanwhile).tasks.each({ statuses: "live", kinds: "work", session }))
}

async function keep<Row extends TaskRow>(
  rows: readonly Row[],
  concerns: LeftTasksOptions["concerns"],
): Promise<readonly Row[]> {
  const wanted = await Promise.all(rows.map(concerns))
  return rows.filter((_, index) => wanted[index])
}
