import { createBackgroundPlugin, type VocabularyName } from "../../../src/builtin/background/background-plugin.ts"
import type { ScriptedCall, ScriptStep } from "../../../src/builtin/scripted/script.ts"
import type { JsonObject } from "../../../src/base/json.ts"
import { definePlugin } from "../../../src/plugin/define-plugin.ts"
import type { ModelRequest } from "../../../src/plugin/model.ts"
import type { Tool } from "../../../src/plugin/tool.ts"
import { toBackgroundConfig } from "../../../src/runner/limits/background-config.ts"
import { toAgentConfig } from "../../../src/session/conversation/agent-config.ts"
import { isTerminal } from "../../../src/task/lifecycle.ts"
import type { TaskRecord } from "../../../src/task/record.ts"
import { eventually } from "../eventually.ts"
import { createGatedTool, type GatedTool } from "../tools.ts"
import { type AgentOptions, type OpenAgent, openAgent, resultsOf, resultText } from "../session/open-agent.ts"

export interface BackgroundOptions extends AgentOptions {
  readonly vocabulary?: VocabularyName
  /** Tools of the plugin `shell`. */
  readonly shell?: readonly Tool[]
}

export interface OpenBackground extends OpenAgent {
  /** The answers of the tools in this conversation, in order: JSON is parsed, other text is left as it is. */
  answers(): readonly JsonObject[]
  /** The n-th started task of this conversation, counted from 1 and from the oldest. */
  task(number: number): Promise<TaskRecord>
  /** The n-th started task, once it has ended. */
  ended(number: number): Promise<TaskRecord>
}

/** A whole session whose model has the tools for tasks. */
export async function openBackground(
  script: Iterable<ScriptStep>,
  options: BackgroundOptions = {},
): Promise<OpenBackground> {
  const { vocabulary = "jaato", shell = [], plugins = [], ...rest } = options
  const agent = await openAgent(script, {
    isKept: true,
    ...rest,
    plugins: [
      ...(shell.length > 0 ? [definePlugin({ kind: "tool", name: "shell", tools: shell })] : []),
      ...plugins,
      createBackgroundPlugin({
        ...toBackgroundConfig(rest.background),
        toolResultLimitCharacters: toAgentConfig(rest.agent).toolResultLimitCharacters,
        vocabulary,
      }),
    ],
  })
  const { runtime, session } = agent
  async function task(number: number): Promise<TaskRecord> {
    const { items } = await runtime.tasks.list({ session: session.id, kinds: ["tool", "agent"] })
    const found = items.toReversed()[number - 1]
    if (!found) throw new Error(`this conversation has ${items.length} tasks, and not ${number}`)
    return (await runtime.tasks.get(found.id)).task
  }
  return {
    ...agent,
    answers: () => resultsOf(session.history()).map((result) => toAnswer(resultText(result))),
    task,
    ended: (number) =>
      eventually("the task ends", async () => {
        const found = await task(number)
        return isTerminal(found.status) && found
      }),
  }
}

/** The command of the shell as a tool whose calls end when the test says so. */
export function createGatedCommand(options: Parameters<typeof createGatedTool>[0] = {}): GatedTool {
  return createGatedTool({ name: "run_command", obeys: true, ...options })
}

export const call = (tool: string, input: ScriptedCall["input"] = {}): ScriptStep => ({ calls: [{ tool, input }] })

/** What the last tool answered, as the model reads it in this request. */
export function lastAnswer({ messages }: ModelRequest): JsonObject {
  return toAnswer(resultText(resultsOf(messages).at(-1)))
}

/** A call with the task id that the last answer named. */
export const callWithTask =
  (tool: string, more: JsonObject = {}): ScriptStep =>
  (request) =>
    call(tool, { task_id: lastAnswer(request)["task_id"] ?? null, ...more })

function toAnswer(text: string): JsonObject {
  return text.startsWith("{") ? (JSON.parse(text) as JsonObject) : { text }
}
