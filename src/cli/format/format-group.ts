import type { Desk } from "../../desk/desk.ts"
import { shortId, toLine } from "./format.ts"

export type Group = Awaited<ReturnType<Desk["groups"]["list"]>>[number]

/** One line: the group's id, state, progress, name and rules. */
export function formatGroup(group: Group): string {
  const { id, state, memberCount, arrivals, name } = group
  const failed = arrivals.filter(({ status }) => status !== "completed").length
  const ended = `${arrivals.length} of ${memberCount} ended${failed > 0 ? `, ${failed} not completed` : ""}`
  return `${shortId(id)}  ${state.padEnd(9)}  ${ended}  ${toLine(name)}${describeRules(group)}`
}

/** The group as people read of it. */
export function toGroupTitle({ id, name }: Group): string {
  return `Group ${toLine(name)} [${shortId(id)}]`
}

/** Only rules that differ from the defaults. */
function describeRules({ join, report, merge, failFast }: Group): string {
  const rules = [
    ...(join === "all" ? [] : [join === "any" ? "joins with the first" : `joins with ${join}`]),
    ...(failFast ? ["a failure stops the others"] : []),
    ...(report === "combined" ? [] : [report === "each" ? "each is reported" : "not reported"]),
    ...(merge === "append" ? [] : [merge === "replace" ? "replaces the one before" : "waits for your approval"]),
  ]
  return rules.length === 0 ? "" : ` (${rules.join(", ")})`
}
