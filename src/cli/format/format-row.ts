import type { Desk } from "../../desk/desk.ts"
import { elapsedMs, formatDuration, shortId, type TaskRow, toLine } from "./format.ts"
import { formatProgress } from "./format-progress.ts"
import { shorten } from "../../base/shorten.ts"

const FEWEST_TITLE_COLUMNS = 20

type Row = Awaited<ReturnType<Desk["tasks"]["rows"]>>["items"][number]
type Standing = Omit<Row, "task">

export function formatRow({ task: row, ...standing }: Row, nowMs: number, columns: number): string {
  const facts = `${shortId(row.id)}  ${row.status.padEnd(11)}  ${formatDuration(toShownMs(row, standing, nowMs)).padStart(12)}  `
  const resumed = row.resumeCount > 0 ? "(resumed) " : ""
  const group = standing.groupName === null ? "" : `group ${toLine(standing.groupName)}`
  const parts = [formatStanding(row, standing), group, `${resumed}${toLine(row.title)}`]
  const title = parts.filter((part) => part !== "").join(" · ")
  const room = Math.max(columns - facts.length, FEWEST_TITLE_COLUMNS)
  return `${facts}${shorten(title, room)}`
}

/** The time it has run; for a queued task the time in the queue, as it may have run before it was handed back. */
function toShownMs(row: TaskRow, { firstStartedAt }: Standing, nowMs: number): number {
  if (row.status === "queued") return Math.max(0, nowMs - row.queuedAt)
  return elapsedMs(row, nowMs, firstStartedAt)
}

function formatStanding(row: TaskRow, { placeInQueue, worker }: Standing): string {
  if (row.missing) return toLine(row.missing.text)
  if (placeInQueue !== null) return `place ${placeInQueue}`
  const where = worker?.where === "elsewhere" ? `on ${toLine(worker.host ?? "another machine")}` : ""
  const progress = row.status === "running" && row.progress ? formatProgress(row.progress) : ""
  return [where, progress].filter((part) => part !== "").join(" · ")
}
