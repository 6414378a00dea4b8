import type { JsonObject, JsonValue } from "../../base/json.ts"
import type { GroupRecord } from "../../task/group.ts"
import type { Patch } from "../../task/patch.ts"
import type { TaskRecord } from "../../task/record.ts"

/** One patch of the results of all members: what each handed back, and which of them failed and why. */
export function combineResults(group: GroupRecord, members: readonly TaskRecord[]): Patch {
  const patches = members.map((member) => ({ member, patch: patchOf(member) }))
  const facts = patches.flatMap(({ member, patch }): [string, JsonObject][] =>
    patch && Object.keys(patch.facts).length > 0 ? [[member.id, patch.facts]] : [],
  )
  return {
    digest: members.map(describeResult),
    facts: Object.fromEntries(facts),
    artifacts: patches.flatMap(({ patch }) => patch?.artifacts ?? []),
    nextSteps: patches.flatMap(({ patch }) => patch?.nextSteps ?? []),
    payload: {
      group: group.name,
      members: patches.map(
        ({ member, patch }): JsonValue => ({
          task: member.id,
          title: member.title,
          status: member.status,
          payload: patch?.payload ?? null,
        }),
      ),
    },
  }
}

/** One line about one member. */
export function describeResult(member: TaskRecord): string {
  const digest = patchOf(member)?.digest.join(" ") ?? ""
  return [`${member.title}: ${toEnding(member)}`, digest].filter((part) => part !== "").join(". ")
}

function toEnding(member: TaskRecord): string {
  switch (member.status) {
    case "failed":
    case "interrupted":
      return `${member.status} (${member.failure.message})`
    case "cancelled":
    case "timed_out":
      return `${member.status} (${member.stop.reason})`
    default:
      return member.status
  }
}

function patchOf(member: TaskRecord): Patch | null {
  return "patch" in member ? member.patch : null
}
