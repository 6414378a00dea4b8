import type { Runtime } from "../../app.ts"
import { shortId, type Task, type TaskId, toLine } from "../format.ts"
import type { Screen } from "../screen/screen.ts"
import type { Announcer } from "./announcer.ts"

export interface GoingScope {
  readonly meanwhile: Runtime
  readonly screen: Screen
  readonly announcer: Pick<Announcer, "seen">
  /** How the program is called for this store. */
  readonly words: string
}

type TaskHere = Pick<Task, "id" | "kind" | "lifetime"> & Partial<Pick<Task, "title">>

/** Says what leaving does to tasks that go on: what runs here is stopped after `drainMs`; what others run, or will, is theirs. */
export async function tellGoing(scope: GoingScope, ids: readonly TaskId[], drainMs: number): Promise<void> {
  const { meanwhile, screen, announcer, words } = scope
  const views = await Promise.all(ids.map((id) => meanwhile.tasks.get(id).catch(() => undefined)))
  const here = ids.flatMap((id, index): TaskHere | readonly [] => {
    const run = meanwhile.tasks.findRunHere(id)
    // What began in the moment in which the store went away has not been seen.
    return run ? (views[index]?.task ?? announcer.seen(id) ?? { id, ...run }) : []
  })
  const stopped = here.filter(isStopped)
  const left = ids.length - stopped.length
  if (left > 0) screen.print(`${countOf(left)} ${left === 1 ? "goes" : "go"} on without this chat: ${words} tasks`)
  if (stopped.length === 0) return
  const isAway = views.every((view) => view === undefined)
  const stop = isAway ? describeUnwrittenStop(stopped.length) : `${describeStop(stopped.length, drainMs)}:`
  screen.print(`${stop} ${words} tasks retry ID runs one again.`)
  for (const { id, title = "" } of stopped) screen.print(`  [${shortId(id)}] ${toLine(title)}`.trimEnd())
}

const isStopped = ({ kind, lifetime }: TaskHere): boolean => kind === "tool" && lifetime !== "forever"

function describeStop(count: number, drainMs: number): string {
  if (drainMs === 0) return `Stopping ${countOf(count)}, which ${count === 1 ? "ends" : "end"} as cancelled`
  const giving = `Giving ${countOf(count)} ${drainMs / 1_000} seconds to end. Ctrl+C again stops at once.`
  return `${giving} What has not ended then is cancelled`
}

function describeUnwrittenStop(count: number): string {
  return `Stopping ${countOf(count)}. The store is away: the next chat or worker that looks there finds the end, and then`
}

export const countOf = (count: number): string => (count === 1 ? "1 task" : `${count} tasks`)
