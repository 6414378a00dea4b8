import { MeanwhileError, toErrorMessage } from "../base/error.ts"
import type { Contribution } from "./contribution.ts"
import { findShapeProblems } from "./plugin-shape.ts"
import type { Plugin } from "./plugin.ts"
import { type CheckInput, checkInput } from "./tool-schema.ts"
import type { Tool } from "./tool.ts"

/** Declares a plugin. Mistakes show here, where the plugin is written, rather than when a tool is first called. */
export function definePlugin<Definition extends Plugin>(plugin: Definition): Definition {
  checkPlugin(plugin)
  return plugin
}

const builtins = new WeakSet<object>()

/** Declares a built-in plugin. A test checks each of them, so no start repeats the check, which takes a while. */
export function defineBuiltin<Definition extends Plugin>(plugin: Definition): Definition {
  builtins.add(plugin)
  return plugin
}

/** Contract: returns only for a value that is a plugin; the error names every mistake. */
export function checkPlugin(value: unknown, check: CheckInput = checkInput): asserts value is Plugin {
  if (typeof value === "object" && value !== null && builtins.has(value)) return
  const problems = findPluginProblems(value, check)
  if (problems.length === 0) return
  const name = nameOf(value)
  throw new MeanwhileError(
    "invalid_input",
    `${name === undefined ? "This value is not a plugin" : `Plugin "${name}" is not well formed`}: ${problems.join("; ")}.`,
    { problems, ...(name !== undefined && { plugin: name }) },
  )
}

/** Every mistake in the value. */
export function findPluginProblems(value: unknown, check: CheckInput = checkInput): readonly string[] {
  const problems = findShapeProblems(value)
  return problems.length > 0 ? problems : findContributionProblems(value as Plugin, check)
}

function nameOf(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || !("name" in value)) return undefined
  return typeof value.name === "string" && value.name !== "" ? value.name : undefined
}

/** The contribution of a plugin to a conversation; empty for kinds that have none. */
function contributionOf(plugin: Plugin): Contribution {
  return plugin.kind === "tool" || plugin.kind === "session" ? plugin : {}
}

/** Checks beyond the shape: duplicate names, references to unknown names, inputs without a JSON schema. */
function findContributionProblems(plugin: Plugin, check: CheckInput): string[] {
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
    ...tools.flatMap((tool) => findToolProblems(tool, check)),
  ]
}

function findToolProblems(tool: Tool, check: CheckInput): string[] {
  const problems: string[] = []
  try {
    check(tool.input)
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
