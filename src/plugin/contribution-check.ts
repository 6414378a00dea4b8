import { toErrorMessage } from "../base/error.ts"
import type { Contribution } from "./contribution.ts"
import type { Plugin } from "./plugin.ts"
import type { Tool } from "./tool.ts"
import { toInputSchema } from "./tool-schema.ts"

/** The contribution of a plugin to a conversation; undefined for kinds that have none. */
export function contributionOf(plugin: Plugin): Contribution {
  return plugin.kind === "tool" || plugin.kind === "session" ? plugin : {}
}

/** Checks beyond the shape: duplicate names, references to unknown names, inputs without a JSON schema. */
export function findContributionProblems(plugin: Plugin): string[] {
  const { tools = [], autoApprovedTools = [], userCommands = [] } = contributionOf(plugin)
  const toolNames = tools.map((tool) => tool.name)
  return [
    ...findRepeated(toolNames).map((name) => `there are two tools named "${name}"`),
    ...findRepeated(userCommands.map((command) => command.name)).map(
      (name) => `there are two commands named "${name}"`,
    ),
    ...autoApprovedTools
      .filter((name) => !toolNames.includes(name))
      .map((name) => `autoApprovedTools names "${name}", which is no tool of this plugin`),
    ...tools.flatMap(findToolProblems),
  ]
}

function findToolProblems(tool: Tool): string[] {
  const problems: string[] = []
  try {
    toInputSchema(tool.input)
  } catch (error) {
    problems.push(`tool "${tool.name}": ${toErrorMessage(error)}`)
  }
  const { background, timeoutMs } = tool
  if (typeof timeoutMs === "number" && typeof background === "object" && background.mode === "after") {
    if (background.ms !== undefined && timeoutMs <= background.ms) {
      problems.push(`tool "${tool.name}": timeoutMs (${timeoutMs}) must exceed its threshold (${background.ms})`)
    }
  }
  return problems
}

function findRepeated(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))]
}
