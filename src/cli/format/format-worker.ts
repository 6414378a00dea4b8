import type { Desk } from "../../desk/desk.ts"
import { type Needs, takesAllKinds } from "../../desk/workers.ts"
import { formatDuration, shortId, toLine, toTable } from "./format.ts"
import { shorten, shortenMiddle } from "../../base/shorten.ts"

export type WorkerRow = Awaited<ReturnType<Desk["workers"]["list"]>>[number]
type Place = Pick<WorkerRow, "host" | "pid" | "where">

/** A worker by its machine and process, which is how a person looks for it. */
export function formatPlace({ host, pid, where }: Place): string {
  if (where === "process") return "here, in this program"
  const process = pid === null ? "" : `, pid ${pid}`
  return where === "machine" ? `here${process}` : `${toLine(host ?? "another machine")}${process}`
}

/** Also said if the store cannot be asked which workers there are. */
export const AT_NEXT_START = "at the next start of a chat or a worker"

/** Says how work that this program leaves goes on: with which worker, or at which start if there is none. */
export async function describeHandoff({ workers }: Pick<Desk, "workers">, needs: Needs): Promise<string> {
  const [one, ...others] = await workers.successors(needs)
  if (!one) return AT_NEXT_START
  return others.length > 0
    ? `with one of ${others.length + 1} other workers`
    : `with another worker (${formatPlace(one)})`
}

/** Says how work that another program runs goes on. */
export function describeRunner(worker: Place): string {
  return `with the worker that runs it (${formatPlace(worker)})`
}

/** The names of plugins are cut first where there is no room, and then those of hosts. */
export function formatWorkers(workers: readonly WorkerRow[], nowMs: number, columns: number): string {
  const rows = [HEAD, ...workers.map((worker) => toCells(worker, nowMs))]
  const excess = widestOf(withoutPlugins(rows)) - columns
  const longestHost = Math.max(...rows.map((cells) => cells[HOST]?.length ?? 0))
  const hostColumns = Math.max(FEWEST_HOST_COLUMNS, longestHost - Math.max(0, excess))
  const fitting = rows.map((cells) =>
    cells.with(
      HOST,
      shortenMiddle(cells[HOST] ?? "", hostColumns, () => "…"),
    ),
  )
  const rest = withoutPlugins(fitting)
  const lines = columns - widestOf(rest) < FEWEST_PLUGIN_COLUMNS ? rest : toTable(fitting)
  return lines.map((line) => shorten(line, columns)).join("\n")
}

const withoutPlugins = (rows: readonly (readonly string[])[]): readonly string[] =>
  toTable(rows.map((cells) => cells.slice(0, -1)))

const widestOf = (lines: readonly string[]): number => Math.max(...lines.map((line) => line.length))

const LEAVING = "nothing: it stops"
/** A chat with `--concurrency 0` runs only a call of its own that moved to the background. */
const NOTHING = "nothing"

const HEAD = ["id", "host", "pid", "up", "runs", "takes", "plugins"]
const HOST = 1
const FEWEST_HOST_COLUMNS = 12
const FEWEST_PLUGIN_COLUMNS = 16

function toCells(worker: WorkerRow, nowMs: number): string[] {
  const { id, host, pid, where, running, announcement, endsWhenIdle } = worker
  const place = [shortId(id), `${toLine(host ?? "?")}${where === "elsewhere" ? "" : " (here)"}`, String(pid ?? "?")]
  if (!announcement) return [...place, "?", String(running), "?", "(it does not say)"]
  const { since, concurrency, plugins, isLeaving } = announcement
  const idle = endsWhenIdle ? " until idle" : ""
  const names = Object.keys(plugins).filter((name) => !name.startsWith("#"))
  return [
    ...place,
    formatDuration(Math.max(0, nowMs - since)),
    concurrency === 0 ? String(running) : `${running} of ${concurrency}`,
    isLeaving ? LEAVING : concurrency === 0 ? NOTHING : `${toKinds(announcement)}${idle}`,
    names.map(toLine).join(", "),
  ]
}

function toKinds(announcement: NonNullable<WorkerRow["announcement"]>): string {
  if (announcement.takes === "own") return "its own"
  return takesAllKinds(announcement) ? "all kinds" : announcement.kinds.join(", ")
}
