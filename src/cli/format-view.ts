import type { Runtime } from "../app.ts"
import { elapsedMs, formatDuration, formatEnd, plain, shortId } from "./format.ts"
import { formatLastCalls, formatProgress, formatTokens } from "./format-progress.ts"

type View = Awaited<ReturnType<Runtime["tasks"]["get"]>>
type Group = Awaited<ReturnType<Runtime["engine"]["store"]["group"]>>

/** Every fact that is known, one to a line. */
export function formatView(view: View, group: Group, nowMs: number): string {
  const { task, placeInQueue, estimate, outputBytes, lastLine } = view
  const { timeoutMs } = task.limits
  const facts: [string, string | null][] = [
    ["task", task.id],
    ["title", task.title],
    ["status", task.status === "queued" && placeInQueue !== null ? `queued, place ${placeInQueue}` : task.status],
    ["run", task.run > 1 ? `${task.run}${task.resumeCount > 0 ? " (resumed)" : ""}` : null],
    ["group", group ? `${group.name} [${shortId(group.id)}], ${group.state}` : null],
    ["created", new Date(task.createdAt).toLocaleString()],
    ["elapsed", formatDuration(elapsedMs(task, nowMs))],
    ["usually", estimate && `${formatDuration(estimate.medianMs)} (${estimate.source})`],
    ["limit", timeoutMs === null ? "none" : formatDuration(timeoutMs)],
    ...progressFacts(task, nowMs),
    ["output", outputBytes > 0 ? `${outputBytes} bytes` : "none"],
    ["last line", lastLine],
    ["end", "endedAt" in task ? formatEnd(task) : null],
  ]
  return facts.flatMap(([name, value]) => (value === null ? [] : [`${name.padEnd(10)}${plain(value)}`])).join("\n")
}

/** Of an agent also what it has called and spent. */
function progressFacts(task: View["task"], nowMs: number): [string, string | null][] {
  const { progress } = task
  if (!progress) return []
  const isLive = !("endedAt" in task)
  const { activity, ...rest } = progress
  const said: [string, string | null] = ["progress", (isLive && formatProgress(rest)) || null]
  if (!activity) return [said]
  return [
    said,
    ["calls", formatLastCalls(activity)],
    ["spent", formatTokens(activity)],
    ["active", isLive ? `${formatDuration(Math.max(0, nowMs - activity.at))} ago` : null],
  ]
}
