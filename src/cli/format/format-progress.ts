import { countOf, type Task, toLine } from "./format.ts"
import { formatCount } from "./format-accounting.ts"

type Progress = NonNullable<Task["progress"]>
type Activity = NonNullable<Progress["activity"]>

/** The progress in a few words; empty if it is not known. */
export function formatProgress({ done, total, phase, line, activity }: Progress): string {
  const count = done === null ? "" : total === null ? String(done) : `${done} of ${total}`
  const said = [count, toLine(phase ?? line ?? "")].filter((part) => part !== "").join(" ")
  const reported = activity?.reported ? formatReported(activity.reported) : ""
  const parts = activity ? [reported, said, countOf(activity.toolCalls, "call"), formatTokens(activity)] : [said]
  return parts.filter((part) => part !== "").join(" · ")
}

/** How far an agent says it is. */
export function formatReported({ fraction, phase, words }: NonNullable<Activity["reported"]>): string {
  const done = fraction === null ? "" : `${Math.round(fraction * 100)} %`
  return [done, ...[phase, words].map((text) => toLine(text ?? ""))].filter((part) => part !== "").join(" · ")
}

/** The last calls of an agent, the newest last. */
export function formatLastCalls(activity: Activity): string {
  const last = activity.lastTools.map(toLine).join(", ")
  return `${countOf(activity.toolCalls, "call")}${last === "" ? "" : `, the last: ${last}`}`
}

export function formatTokens({ tokens }: Activity): string {
  return `${formatCount(tokens)} tokens`
}
