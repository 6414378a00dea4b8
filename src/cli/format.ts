import { stripVTControlCharacters } from "node:util"
import type { Meanwhile } from "../app.ts"

type Tasks = Meanwhile["tasks"]
export type TaskRow = Awaited<ReturnType<Tasks["list"]>>["items"][number]
export type View = Awaited<ReturnType<Tasks["get"]>>
export type Task = View["task"]
export type TaskId = Task["id"]

const SHORT_ID_LENGTH = 8
const TITLE_COLUMNS = 60

export const shortId = (id: string): string => id.slice(0, SHORT_ID_LENGTH)

/** Text from tasks is data: it may not move the cursor, change colours or hide what stands beside it. */
export function plain(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what this takes out
  return stripVTControlCharacters(text).replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "")
}

export function formatDuration(durationMs: number): string {
  if (durationMs < 1_000) return `${Math.round(durationMs)} ms`
  const seconds = durationMs / 1_000
  if (seconds < 60) return `${seconds.toFixed(1)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** What came of a task, in one line for people. */
export function formatEnd(task: Task): string {
  return plain(toEnd(task))
}

function toEnd(task: Task): string {
  const took = formatDuration(elapsedMs(task))
  switch (task.status) {
    case "completed":
      return `completed in ${took}`
    case "failed":
      return `failed after ${took}: ${task.failure.message}`
    case "interrupted":
      return `interrupted: ${task.failure.message}`
    case "cancelled":
    case "timed_out":
      return `${task.status === "cancelled" ? "cancelled" : "timed out"} after ${took} by ${task.stop.by}: ${task.stop.reason}${formatSurvivors(task.survivors)}`
    default:
      return task.status
  }
}

export function formatSurvivors(survivors: "unknown" | readonly { pid: number; command: string }[]): string {
  if (survivors === "unknown") return " (whether something of it still runs is not known)"
  if (survivors.length === 0) return ""
  return `\n  still alive: ${survivors.map(({ pid, command }) => `${pid} ${command}`).join(", ")}`
}

export function formatRow(row: TaskRow, nowMs: number): string {
  const title = plain(row.title).replaceAll(/\s+/g, " ")
  const shown = title.length > TITLE_COLUMNS ? `${title.slice(0, TITLE_COLUMNS - 1)}…` : title
  return `${shortId(row.id)}  ${row.status.padEnd(11)}  ${formatDuration(elapsedMs(row, nowMs)).padStart(9)}  ${shown}`
}

/** Every fact that is known, one to a line. */
export function formatView({ task, placeInQueue, estimate, outputBytes, lastLine }: View, nowMs: number): string {
  const facts: [string, string | null][] = [
    ["task", task.id],
    ["title", task.title],
    ["status", task.status === "queued" && placeInQueue !== null ? `queued, place ${placeInQueue}` : task.status],
    ["run", task.run > 1 ? String(task.run) : null],
    ["elapsed", formatDuration(elapsedMs(task, nowMs))],
    ["usually", estimate && `${formatDuration(estimate.medianMs)} (${estimate.source})`],
    ["phase", task.progress?.phase ?? null],
    ["progress", formatProgress(task)],
    ["output", outputBytes > 0 ? `${outputBytes} bytes` : "none"],
    ["last line", lastLine],
    ["end", "endedAt" in task ? formatEnd(task) : null],
  ]
  return facts.flatMap(([name, value]) => (value === null ? [] : [`${name.padEnd(10)}${plain(value)}`])).join("\n")
}

function formatProgress({ progress }: Task): string | null {
  if (!progress || progress.done === null) return null
  return progress.total === null ? String(progress.done) : `${progress.done} of ${progress.total}`
}

function elapsedMs(task: Task | TaskRow, nowMs = Date.now()): number {
  const startedAt = task.startedAt ?? task.createdAt
  return Math.max(0, ("endedAt" in task ? task.endedAt : nowMs) - startedAt)
}
