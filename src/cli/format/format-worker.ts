import type { Desk } from "../../desk/desk.ts"
import type { Needs } from "../../desk/workers.ts"
import { formatDuration, shortId, toLine, toTable } from "./format.ts"
import { shorten } from "../../base/shorten.ts"

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

export function formatWorkers(workers: readonly WorkerRow[], nowMs: number, columns: number): string {
  const lines = toTable([HEAD, ...workers.map((worker) => toCells(worker, nowMs))])
  return lines.map((line) => shorten(line, columns)).join("\n")
}

const LEAVING = "nothing: it stops"
/** A chat with `--concurrency 0` runs only a call of its own that moved to the background. */
const NOTHING = "nothing"

const HEAD = ["id", "host", "pid", "up", "runs", "takes", "plugins"]

function toCells(worker: WorkerRow, nowMs: number): string[] {
  const { id, host, pid, where, running, announcement, endsWhenIdle } = worker
  const place = [shortId(id), `${toLine(host ?? "?")}${where === "elsewhere" ? "" : " (here)"}`, String(pid ?? "?")]
  if (!announcement) return [...place, "?", String(running), "?", "(it does not say)"]
  const { since, concurrency, takes, kinds, plugins, isLeaving } = announcement
  const idle = endsWhenIdle ? " until idle" : ""
  const names = Object.keys(plugins).filter((name) => !name.startsWith("#"))
  return [
    ...place,
    formatDuration(Math.max(0, nowMs - since)),
    concurrency === 0 ? String(running) : `${running} of ${concurrency}`,
    isLeaving ? LEAVING : concurrency === 0 ? NOTHING : `${takes === "own" ? "its own" : kinds.join(", ")}${idle}`,
    names.map(toLine).join(", "),
  ]
}
