import type { Desk } from "../../desk/desk.ts"
import { formatDuration, shortId, toLine } from "./format.ts"
import { shorten } from "../../base/shorten.ts"

export type WorkerRow = Awaited<ReturnType<Desk["workers"]["list"]>>[number]
type Place = Pick<WorkerRow, "host" | "pid" | "where">

/** A person looks for it by its machine and its process. */
export function formatPlace({ host, pid, where }: Place): string {
  if (where === "process") return "here, in this program"
  const process = pid === null ? "" : `, pid ${pid}`
  return where === "machine" ? `here${process}` : `${toLine(host ?? "another machine")}${process}`
}

export function formatWorkers(workers: readonly WorkerRow[], nowMs: number, columns: number): string {
  const rows = [HEAD, ...workers.map((worker) => toCells(worker, nowMs))]
  const widths = HEAD.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)))
  return rows
    .map((cells) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "))
    .map((line) => line.trimEnd())
    .map((line) => shorten(line, columns))
    .join("\n")
}

const LEAVING = "nothing: it stops"
/** A chat with `--concurrency 0` runs only a call of its own that moved to the background. */
const NOTHING = "nothing"

const HEAD = ["id", "host", "pid", "since", "runs", "takes", "plugins"]

function toCells(worker: WorkerRow, nowMs: number): string[] {
  const { id, host, pid, where, running, announcement } = worker
  const place = [shortId(id), `${toLine(host ?? "?")}${where === "elsewhere" ? "" : " (here)"}`, String(pid ?? "?")]
  if (!announcement) return [...place, "?", String(running), "?", "(it does not say)"]
  const { since, concurrency, takes, kinds, plugins, isLeaving } = announcement
  const names = Object.keys(plugins).filter((name) => !name.startsWith("#"))
  return [
    ...place,
    formatDuration(Math.max(0, nowMs - since)),
    concurrency === 0 ? String(running) : `${running} of ${concurrency}`,
    isLeaving ? LEAVING : concurrency === 0 ? NOTHING : takes === "own" ? "its own" : kinds.join(", "),
    names.map(toLine).join(", "),
  ]
}
