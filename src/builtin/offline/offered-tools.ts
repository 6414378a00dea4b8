import { isJsonObject, type JsonObject } from "../../base/json.ts"
import type { ModelTool } from "../../plugin/model.ts"
import { findNearNames } from "../../base/near-name.ts"

/** The model's reaction to one sentence. */
export interface Behaviour {
  readonly think?: string
  readonly say?: string
  /** The pause between two words. Default: none. */
  readonly paceMs?: number
  readonly calls?: readonly { readonly tool: string; readonly input: JsonObject }[]
}

/** The tools of the request at hand. */
export interface OfferedTools {
  readonly names: readonly string[]
  has(tool: string): boolean
  /** A call of the tool, or the sentence that it is not offered. */
  call(tool: string, input: JsonObject): Behaviour
}

/** Names of the same argument in tools of other plugins. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  command: ["cmd", "script"],
  path: ["file_path", "filePath", "file", "filename"],
  content: ["text", "contents", "new_content"],
  new_content: ["newContent", "content", "text"],
  url: ["uri", "link"],
  task: ["prompt", "message", "instructions"],
  task_id: ["taskId", "id", "task"],
  tool: ["tool_name", "toolName", "name"],
  input: ["arguments", "args", "tool_input", "toolInput", "parameters"],
  step: ["step_number", "stepNumber", "index"],
}

export function createOfferedTools(tools: readonly ModelTool[]): OfferedTools {
  const names = tools.map(({ name }) => name)
  const find = (wanted: string): ModelTool | undefined => tools.find(({ name }) => name === wanted)
  return {
    names,
    has: (tool) => find(tool) !== undefined,
    call(tool, input) {
      const offered = find(tool)
      return offered ? { calls: [{ tool, input: fitInput(offered, input) }] } : { say: toRefusal(tool, names) }
    },
  }
}

function fitInput({ inputSchema }: ModelTool, input: JsonObject): JsonObject {
  const properties = inputSchema["properties"]
  if (!isJsonObject(properties)) return input
  const fitted = Object.entries(input).map(([name, value]) => {
    const fitting = [name, ...(OTHER_NAMES[name] ?? [])].find((candidate) => Object.hasOwn(properties, candidate))
    return [fitting ?? name, value] as const
  })
  return Object.fromEntries(fitted)
}

function toRefusal(tool: string, names: readonly string[]): string {
  const near = findNearNames(tool, names)
  const hint = near.length > 0 ? ` Did you mean ${near.join(" or ")}?` : ""
  const offered = names.length > 0 ? `I am offered: ${names.join(", ")}.` : "I am offered no tools at all."
  return `I have no tool named ${tool} here, so I cannot do that.${hint} ${offered}`
}
