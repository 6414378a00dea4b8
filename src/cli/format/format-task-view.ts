import { formatLocalTime } from "../../base/local-time.ts"
import { shorten } from "../../base/shorten.ts"
import type { Desk } from "../../desk/desk.ts"
import { elapsedMs, formatArtifact, formatDuration, formatEnd, plain, shortId, toLine } from "./format.ts"
import { toIndent } from "./format-task-row.ts"
import { formatPlace } from "./format-worker.ts"
import { formatLastCalls, formatProgress, formatReported, formatTokens } from "./format-progress.ts"
import { formatResult } from "./format-result.ts"

type Details = Awaited<ReturnType<Desk["tasks"]["details"]>>
type View = Details["view"]

const NAME_COLUMNS = 10
/** A longer line is cut: another command shows all of it. */
const LINE_CHARACTERS = 160
/** A model reports the usage of a call with its answer: a call under way, or cut off, is not counted. */
const NOTHING_COUNTED = "no tokens counted"
const SILENT = "its worker is silent, and another worker will take it over"

/** Every fact that is known, one to a line. */
export function formatTaskView(details: Details, nowMs: number): string {
  const { view, group, firstStartedAt, below } = details
  const { task, placeInQueue, estimate } = view
  const { timeoutMs } = task.limits
  const facts: [string, string | null][] = [
    ["task", task.id],
    ["title", task.title],
    ["status", task.status === "queued" && placeInQueue !== null ? `queued, place ${placeInQueue}` : task.status],
    ["waits", describeWaiting(details, nowMs)],
    ["runs on", formatRunner(view)],
    ["run", task.run > 1 ? `${task.run}${task.resumeCount > 0 ? " (resumed)" : ""}` : null],
    ["group", group ? `${group.name} [${shortId(group.id)}], ${group.state}` : null],
    ["created", formatLocalTime(task.createdAt)],
    ["elapsed", formatElapsed(task, nowMs, firstStartedAt)],
    ["usually", estimate && `${formatDuration(estimate.medianMs)} (${estimate.source})`],
    ["limit", timeoutMs === null ? "none" : formatDuration(timeoutMs)],
    ...progressFacts(task, nowMs),
    ...outputFacts(view),
    ["end", "endedAt" in task ? formatEnd(task, firstStartedAt) : null],
    ["goes on", formatOutlived(view)],
    resultFact(view),
    ["artifacts", formatArtifacts(task)],
    ["below", formatBelow(below)],
  ]
  return facts
    .flatMap(([name, value]) => (value === null ? [] : [`${name.padEnd(NAME_COLUMNS)}${indent(plain(value))}`]))
    .join("\n")
}

/** Indents further lines, so that a name or a message of several lines cannot pass for a fact. */
function indent(text: string): string {
  return text.replaceAll(/[\n\u2028\u2029](?=.)/g, `\n${" ".repeat(NAME_COLUMNS)}`)
}

/** The worker that runs the task. Null: no worker runs it, and none should. */
function formatRunner({ task, worker }: View): string | null {
  if (worker) return `${formatPlace(worker)}${worker.isSilent ? `; ${SILENT}` : ""}`
  return task.status === "running" ? `nobody: ${SILENT}` : null
}

/** Agents print nothing: they hand back an answer. A last line without output came with the progress. */
function outputFacts({ task, outputBytes, lastLine }: View): [string, string | null][] {
  const line = lastLine && shorten(lastLine, LINE_CHARACTERS)
  const isShown = isGoing(task) && task.progress?.phase === null
  return outputBytes > 0
    ? Object.entries({ output: `${outputBytes} bytes`, "last line": line })
    : Object.entries({ output: task.kind === "tool" ? "none" : null, said: isShown ? null : line })
}

/** The result, unless the task has printed something: another command shows that. */
function resultFact({ task, outputBytes }: View): [string, string | null] {
  const text = outputBytes > 0 ? "" : formatResult(task)
  return [task.kind === "agent" ? "answer" : "result", text === "" ? null : text]
}

const MOST_BELOW = 20

/** The work that the task has started, one to a line, each below the task that started it. */
function formatBelow(below: Details["below"]): string | null {
  const lines = below.slice(0, MOST_BELOW).map(({ task, depth }) => {
    return `${toIndent(depth)}[${shortId(task.id)}] ${task.status}: ${shorten(toLine(task.title), LINE_CHARACTERS)}`
  })
  const left = below.length - lines.length
  return lines.length === 0 ? null : [...lines, ...(left > 0 ? [`and ${left} more`] : [])].join("\n")
}

/** Tasks that the stop of this one left alone. */
function formatOutlived({ outlived }: View): string | null {
  return outlived.length === 0
    ? null
    : outlived.map((id) => `[${shortId(id)}]: its parent was stopped, it was not`).join("\n")
}

/** One to a line. */
function formatArtifacts(task: View["task"]): string | null {
  const artifacts = "patch" in task ? (task.patch?.artifacts ?? []) : []
  return artifacts.length === 0 ? null : artifacts.map(formatArtifact).join("\n")
}

function formatElapsed(task: View["task"], nowMs: number, firstStartedAt: number | null): string {
  const counted = formatDuration(elapsedMs(task, nowMs))
  if (firstStartedAt === null) return counted
  // How long a lost worker worked is not known.
  const all = formatDuration(elapsedMs(task, nowMs, firstStartedAt))
  return `${all} since its first start, at least ${counted} of it at work`
}

function describeWaiting({ view, questions, heldUpBy }: Details, nowMs: number): string | null {
  if (view.missing && heldUpBy.length === 0) return `for a worker: ${view.missing.text}`
  if (questions.length === 0) return null
  const since = Math.min(...questions.map(({ openedAt }) => openedAt))
  return `for your answer, for ${formatDuration(Math.max(0, nowMs - since))}`
}

/** The progress; of an agent also its calls and what it has spent. */
function progressFacts(task: View["task"], nowMs: number): [string, string | null][] {
  const { progress } = task
  if (!progress) return []
  const isLive = !("endedAt" in task)
  const { activity, ...rest } = progress
  const said: [string, string | null] = ["progress", (isGoing(task) && formatProgress(rest)) || null]
  if (!activity) return [said]
  return [
    said,
    ["reported", (activity.reported && formatReported(activity.reported)) || null],
    ["calls", formatLastCalls(activity)],
    ["spent", activity.tokens > 0 ? formatTokens(activity) : NOTHING_COUNTED],
    ["active", isLive ? `${formatDuration(Math.max(0, nowMs - activity.at))} ago` : null],
  ]
}

/** False for a task that is queued again: nobody works on its last progress. */
function isGoing({ status }: View["task"]): boolean {
  return status === "running" || status === "waiting" || status === "stopping"
}
