import { toErrorMessage } from "../base/error.ts"
import type { Contribution } from "./contribution.ts"
import type { Plugin } from "./plugin.ts"
import type { Tool } from "./tool.ts"
import { toInputSchema } from "./tool-schema.ts"

/** What a plugin adds to a conversation, or nothing for the kinds that add nothing. */
export function contributionOf(plugin: Plugin): Contribution {
  return plugin.kind === "tool" || plugin.kind === "session" ? plugin : {}
}

/** What the shape alone does not show: names that meet twice, names of nothing, inputs no model can be told. */
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
