import type { Desk } from "../../desk/desk.ts"
import { elapsedMs, formatDuration, shortId, type ListedTask, toLine } from "./format.ts"
import { formatProgress } from "./format-progress.ts"
import { shorten } from "../../base/shorten.ts"

const FEWEST_TITLE_COLUMNS = 20
const SEPARATOR = " · "

type Row = Awaited<ReturnType<Desk["tasks"]["rows"]>>["items"][number]
type Standing = Omit<Row, "task">

/** `depth`: how many tasks of the list stand above this one, whose title is indented. */
export function formatTaskRow(
  { task, depth = 0, ...standing }: Row & { readonly depth?: number },
  nowMs: number,
  columns: number,
): string {
  const facts = `${shortId(task.id)}  ${task.status.padEnd(11)}  ${formatDuration(toShownMs(task, standing, nowMs)).padStart(12)}  `
  const resumed = task.resumeCount > 0 ? "(resumed) " : ""
  const group = standing.groupName === null ? "" : `group ${toLine(standing.groupName)}`
  const rest = [formatStanding(task, standing), group, formatRunning(task)].filter((part) => part !== "").join(" · ")
  const indent = toIndent(depth)
  const room = Math.max(columns - facts.length - indent.length, FEWEST_TITLE_COLUMNS)
  return `${facts}${indent}${fitTitle(`${resumed}${toLine(task.title)}`, rest, room)}`
}

/** Deeper ones keep the room for their titles. */
const DEEPEST_INDENT = 8

export const toIndent = (depth: number): string => "  ".repeat(Math.min(depth, DEEPEST_INDENT))

/** The title comes first, as it says which task this is. It leaves the rest a third of the room where both are long. */
function fitTitle(title: string, rest: string, room: number): string {
  if (rest === "") return shorten(title, room)
  const restRoom = Math.min(rest.length + SEPARATOR.length, Math.floor(room / 3))
  return shorten(`${shorten(title, room - restRoom)}${SEPARATOR}${rest}`, room)
}

/** The time a task has run. For a queued one, which may have run before, the time in the queue. */
function toShownMs(task: ListedTask, { firstStartedAt }: Standing, nowMs: number): number {
  if (task.status === "queued") return Math.max(0, nowMs - task.queuedAt)
  return elapsedMs(task, nowMs, firstStartedAt)
}

function formatStanding(task: ListedTask, { placeInQueue, worker, heldUpBy }: Standing): string {
  if (heldUpBy.length > 0) return "needs you"
  if (task.missing) return toLine(task.missing.text)
  if (placeInQueue !== null) return `place ${placeInQueue}`
  return worker?.where === "elsewhere" ? `on ${toLine(worker.host ?? "another machine")}` : ""
}

function formatRunning({ status, progress }: ListedTask): string {
  return status === "running" && progress ? formatProgress(progress) : ""
}
