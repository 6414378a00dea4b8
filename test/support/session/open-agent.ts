import { join } from "node:path"
import { onTestFinished } from "vitest"
import type { Runtime, RuntimeOptions } from "../../../src/app.ts"
import type { Script } from "../../../src/builtin/scripted/script.ts"
import {
  createScriptedModel,
  type ScriptedModel,
  type ScriptedModelOptions,
} from "../../../src/builtin/scripted/scripted-model.ts"
import type { AgentEvent } from "../../../src/plugin/agent-event.ts"
import { definePlugin } from "../../../src/plugin/define-plugin.ts"
import { type Message, textOf, type ToolResult } from "../../../src/plugin/message.ts"
import type { Tool } from "../../../src/plugin/tool.ts"
import { allowAll } from "../../../src/runner/admit/permission.ts"
import type { Session, SessionOptions } from "../../../src/session/conversation/session.ts"
import { openTestRuntime } from "../test-engine.ts"
import { createFolder } from "../workplace.ts"

export interface AgentOptions extends Omit<RuntimeOptions, "model" | "dataDirectory"> {
  readonly tools?: readonly Tool[]
  /** Whether the conversation is in a store on disk. Default: false, in memory. */
  readonly isKept?: boolean
  /** The data folder of a kept conversation. Default: a new one. */
  readonly folder?: string
  readonly scripted?: ScriptedModelOptions
  readonly session?: SessionOptions
}

export interface OpenAgent {
  readonly runtime: Runtime
  readonly session: Session
  readonly model: ScriptedModel
  readonly folder: string
  /** All events of every agent of the runtime. */
  readonly events: readonly AgentEvent[]
}

/** A runtime with a scripted model and a session in it. The tools are of the plugin `test`; every call is allowed. */
export async function openAgent(script: Script, options: AgentOptions = {}): Promise<OpenAgent> {
  const { scripted = {}, session: wanted, ...rest } = options
  const model = createScriptedModel(script, { ...(rest.clock && { clock: rest.clock }), ...scripted })
  const { runtime, folder } = await openScripted(model, rest)
  const events: AgentEvent[] = []
  runtime.on((event) => events.push(event))
  const session = await runtime.createSession(wanted)
  return { runtime, session, model, folder, events }
}

export async function openScripted(
  model: ScriptedModel,
  options: Omit<AgentOptions, "scripted" | "session"> = {},
): Promise<{ readonly runtime: Runtime; readonly folder: string }> {
  const { tools = [], isKept = false, folder = isKept ? createFolder() : "", plugins = [], ...rest } = options
  const runtime = await openTestRuntime({
    environment: {},
    permissions: allowAll,
    ...rest,
    model,
    plugins: [...(tools.length > 0 ? [definePlugin({ kind: "tool", name: "test", tools })] : []), ...plugins],
    ...(isKept && { dataDirectory: join(folder, "data") }),
  })
  onTestFinished(() => runtime.close())
  return { runtime, folder }
}

/** Both modes, for tests that must hold with a store on disk and in memory. */
export const PLACES = [
  ["kept", true],
  ["in memory", false],
] as const

export function resultsOf(messages: readonly Message[]): readonly ToolResult[] {
  return messages.flatMap((message) => (message.role === "tool" ? message.parts : []))
}

/** The text of the result; empty if it has none. */
export function resultText(result: ToolResult | undefined): string {
  const content = result?.content ?? []
  return content.map((part) => (part.type === "text" ? part.text : `[${part.mediaType}]`)).join("\n")
}

/** The last message of the model's n-th request, counted from 0, or from the end below. */
export function lastSaid({ requests }: ScriptedModel, request: number): string {
  const last = requests.at(request)?.messages.at(-1)
  return last ? textOf(last) : ""
}

export function typesOf(events: readonly AgentEvent[]): readonly string[] {
  return events.map(({ type }) => type)
}
