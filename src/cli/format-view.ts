import type { Runtime } from "../app.ts"
import { elapsedMs, formatDuration, formatEnd, formatProgress, plain } from "./format.ts"

type View = Awaited<ReturnType<Runtime["tasks"]["get"]>>

/** Every fact that is known, one to a line. */
export function formatView({ task, placeInQueue, estimate, outputBytes, lastLine }: View, nowMs: number): string {
  const { timeoutMs } = task.limits
  const facts: [string, string | null][] = [
    ["task", task.id],
    ["title", task.title],
    ["status", task.status === "queued" && placeInQueue !== null ? `queued, place ${placeInQueue}` : task.status],
    ["run", task.run > 1 ? String(task.run) : null],
    ["created", new Date(task.createdAt).toLocaleString()],
    ["elapsed", formatDuration(elapsedMs(task, nowMs))],
    ["usually", estimate && `${formatDuration(estimate.medianMs)} (${estimate.source})`],
    ["limit", timeoutMs === null ? "none" : formatDuration(timeoutMs)],
    ["progress", (task.progress && formatProgress(task.progress)) || null],
    ["output", outputBytes > 0 ? `${outputBytes} bytes` : "none"],
    ["last line", lastLine],
    ["end", "endedAt" in task ? formatEnd(task) : null],
  ]
  return facts.flatMap(([name, value]) => (value === null ? [] : [`${name.padEnd(10)}${plain(value)}`])).join("\n")
}
