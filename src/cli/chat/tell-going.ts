import type { Runtime } from "../../app.ts"
import { shortId, type Task, type TaskId, toLine } from "../format.ts"
import type { Screen } from "../screen/screen.ts"

export interface GoingScope {
  readonly meanwhile: Runtime
  readonly screen: Screen
  /** How the program is called for this store. */
  readonly words: string
}

/** Says what leaving does to tasks that go on: what runs here is stopped after `drainMs`; what others run, or will, is theirs. */
export async function tellGoing(scope: GoingScope, ids: readonly TaskId[], drainMs: number): Promise<void> {
  const { meanwhile, screen, words } = scope
  const views = await Promise.all(ids.map((id) => meanwhile.tasks.get(id).catch(() => undefined)))
  const isStopped = ({ id, kind, lifetime }: Task): boolean =>
    kind === "tool" && lifetime !== "forever" && meanwhile.tasks.runsHere(id)
  const stopped = views.flatMap((view) => (view && isStopped(view.task) ? view.task : []))
  const left = ids.length - stopped.length
  if (left > 0) screen.print(`${countOf(left)} ${left === 1 ? "goes" : "go"} on without this chat: ${words} tasks`)
  if (stopped.length === 0) return
  screen.print(`${describeStop(stopped.length, drainMs)}: ${words} tasks retry ID runs one again.`)
  for (const { id, title } of stopped) screen.print(`  [${shortId(id)}] ${toLine(title)}`)
}

function describeStop(count: number, drainMs: number): string {
  if (drainMs === 0) return `Stopping ${countOf(count)}, which ${count === 1 ? "ends" : "end"} as cancelled`
  const giving = `Giving ${countOf(count)} ${drainMs / 1_000} seconds to end. Ctrl+C again stops at once.`
  return `${giving} What has not ended then is cancelled`
}

export const countOf = (count: number): string => (count === 1 ? "1 task" : `${count} tasks`)
