import { stripVTControlCharacters } from "node:util"
import type { Desk } from "../../desk/desk.ts"

type Tasks = Desk["tasks"]
export type ListedTask = Awaited<ReturnType<Tasks["list"]>>["items"][number]
export type Task = Awaited<ReturnType<Tasks["find"]>>["task"]
export type TaskId = Task["id"]
type Artifact = Awaited<ReturnType<Tasks["artifacts"]>>[number]

const SHORT_ID_LENGTH = 8
const HASH_CHARACTERS = "sha256:".length + 12

export const shortId = (id: string): string => id.slice(0, SHORT_ID_LENGTH)

/** All control characters but tab and line feed, and characters that reverse the direction of text. */
const ACTING = /[^\P{Cc}\t\n]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Text from tasks and models is data: it may not move the cursor, change colours or hide what stands beside it. */
export function plain(text: string): string {
  return stripVTControlCharacters(text).replaceAll(ACTING, "")
}

/** As `plain`, with a line for each step of a progress bar that overwrites itself. */
export function plainLines(text: string): string {
  return plain(text.replaceAll(/\r+\n?/g, "\n"))
}

/** `1 task`, `3 tasks`. */
export const countOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`

/** Aligns the cells of rows in columns. */
export function toTable(
  rows: readonly (readonly string[])[],
  isNumeric = (_column: number) => false,
): readonly string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  const pad = (cell: string, column: number): string =>
    isNumeric(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)
  return rows.map((row) => row.map(pad).join("  ").trimEnd())
}

/** Rounds first, so that a time that rounds up to a whole minute is shown as one. */
export function formatDuration(durationMs: number): string {
  const wholeMs = Math.round(durationMs)
  if (wholeMs < 1_000) return `${wholeMs} ms`
  const tenths = Math.round(durationMs / 100)
  if (tenths < 600) return `${(tenths / 10).toFixed(1)} s`
  const seconds = Math.round(durationMs / 1_000)
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** An artifact in one line: name, type, size and the beginning of its hash. */
export function formatArtifact({ name, mediaType, bytes, hash }: Artifact): string {
  return toLine(`${name}: ${mediaType}, ${bytes} bytes, ${hash.slice(0, HASH_CHARACTERS)}`)
}

/** The time limit of a task, as the end of a line about the task. */
export function formatLimit(timeoutMs: number | null): string {
  return timeoutMs === null ? "" : `, for ${formatDuration(timeoutMs)} at most`
}

/** The end of a task in one line for people. */
export function formatEnd(task: Task, firstStartedAt: number | null = null): string {
  return plain(toEnd(task, firstStartedAt))
}

/** As `formatEnd`, with the title of the task, unless a failure names its command already. */
export function formatAnnouncement(task: Task, firstStartedAt: number | null = null): string {
  const end = formatEnd(task, firstStartedAt)
  const title = toLine(task.title)
  if (task.status === "completed") return `[${shortId(task.id)}] ${end}: ${title}`
  return `[${shortId(task.id)}] ${end.includes(title) ? end : `${end} (${title})`}`
}

function toEnd(task: Task, firstStartedAt: number | null): string {
  const took = formatDuration(elapsedMs(task, task.createdAt, firstStartedAt))
  switch (task.status) {
    case "completed":
      return `completed in ${took}`
    case "failed":
      return `failed after ${took}: ${task.failure.message}`
    case "interrupted":
      return `interrupted: ${task.failure.message}`
    case "cancelled":
      return `cancelled after ${took} by ${task.stop.by}: ${task.stop.reason}${formatSurvivors(task.survivors)}`
    case "timed_out":
      return `timed out: ${task.stop.reason}${formatSurvivors(task.survivors)}`
    default:
      return task.status
  }
}

export function formatSurvivors(survivors: "unknown" | readonly { pid: number; command: string }[]): string {
  if (survivors === "unknown") return " (whether something of it still runs is not known)"
  if (survivors.length === 0) return ""
  return `\n  still alive: ${survivors.map(({ pid, command }) => `${pid} ${command}`).join(", ")}`
}

/** Processes that an interrupted run may have left on its machine, where another run would go on beside them. */
export function formatLeft(task: Task): string {
  if (task.status !== "interrupted") return ""
  const { processesMayRun, host, dataFolder } = task.failure.details
  if (processesMayRun !== true) return ""
  const machine = typeof host === "string" ? host : "its machine"
  const folder = typeof dataFolder === "string" ? `the data folder ${dataFolder}` : "its data folder"
  return plain(
    `\n  what the run before has started may still run on ${machine}: a worker with ${folder} there stops it`,
  )
}

export function toLine(text: string): string {
  return plain(text).replaceAll(/\s+/g, " ").trim()
}

/**
 * The time a task has run: the sum that earlier claims of the run measured, and the time since the last claim. With
 * `firstStartedAt`, which no tool has, the time since the first start, whichever workers had the task.
 */
export function elapsedMs(task: Task | ListedTask, nowMs: number, firstStartedAt: number | null = null): number {
  if (firstStartedAt !== null) return Math.max(0, ("endedAt" in task ? task.endedAt : nowMs) - firstStartedAt)
  const isClaimed = task.status === "running" || task.status === "stopping"
  return task.ranMs + (isClaimed && task.startedAt !== null ? Math.max(0, nowMs - task.startedAt) : 0)
}
