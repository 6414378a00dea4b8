import type { SessionId } from "../../task/id.ts"
import type { UserCommand } from "../../plugin/user-command.ts"
import type { Grant, PermissionScope } from "./grants.ts"
import { describe } from "./policy-verdict.ts"
import { toVisibleText } from "../../base/visible-text.ts"

const LONGEST_INPUT = 120
const MODES = {
  default: "calls with an effect are asked",
  allow_all: "everything is allowed that no rule refuses or asks about",
  deny_effects: "calls with an effect are refused",
} as const

export function createPermissionsCommand(scope: PermissionScope): UserCommand {
  return {
    name: "permissions",
    usage: "[reset]",
    description: "show what is allowed, refused and asked; `reset` takes back what this session was allowed",
    run(argument, { session }) {
      const word = argument.trim()
      if (word === "") return toOverview(scope, session)
      if (word !== "reset")
        return `There is no "${toVisibleText(word, LONGEST_INPUT)}" here: type permissions, or permissions reset.`
      const count = session === null ? 0 : scope.grants.reset(session)
      return count === 0 ? "This session was allowed nothing." : `Taken back: ${count}. You will be asked again.`
    },
  }
}

function toOverview({ policy, grants }: PermissionScope, session: SessionId | null): string {
  const rules = policy.rules.map((rule) => `  ${rule.decision} ${describe(rule)}`)
  const granted = session === null ? [] : grants.list(session).map((grant) => `  ${toLine(grant)}`)
  return [
    `Mode ${policy.mode}: ${MODES[policy.mode]}.`,
    rules.length > 0 ? "Rules (deny wins, then ask):" : "No rules.",
    ...rules,
    granted.length > 0 ? "Allowed in this session:" : "Nothing was allowed for this session.",
    ...granted,
  ].join("\n")
}

function toLine({ plugin, tool, scope }: Grant): string {
  switch (scope.kind) {
    case "tool":
      return `every call of ${plugin}/${tool}`
    case "alike":
      return `${plugin}/${tool}: ${toVisibleText(scope.likeness, LONGEST_INPUT)} (${scope.effects.join(", ")})`
    case "call":
      return `one call of ${plugin}/${tool}: ${toVisibleText(scope.input, LONGEST_INPUT)}`
  }
}
