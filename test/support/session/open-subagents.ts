import { join } from "node:path"
import { onTestFinished } from "vitest"
import { z } from "zod"
import type { RuntimeOptions } from "../../../src/app.ts"
import { isMeanwhileError } from "../../../src/base/error.ts"
import type { ScriptStep } from "../../../src/builtin/scripted/script.ts"
import { createScriptedProvider, type ScriptedProvider } from "../../../src/builtin/scripted/scripted-provider.ts"
import type { Profile } from "../../../src/builtin/subagent/profile.ts"
import { createSubagentPlugin } from "../../../src/builtin/subagent/subagent-plugin.ts"
import { definePlugin } from "../../../src/plugin/define-plugin.ts"
import type { Message, ToolResult } from "../../../src/plugin/message.ts"
import type { ModelRequest } from "../../../src/plugin/model.ts"
import { defineTool, type Tool } from "../../../src/plugin/tool.ts"
import type { Session } from "../../../src/session/conversation/session.ts"
import { openTestRuntime } from "../test-engine.ts"
import { createFolder } from "../workplace.ts"

export interface SubagentOptions extends Omit<RuntimeOptions, "model"> {
  /** What the main agent's model says. */
  readonly main: readonly ScriptStep[]
  /** What the model of the profile `worker` says. */
  readonly below?: readonly ScriptStep[]
  readonly profiles?: readonly Profile[]
  readonly directories?: readonly string[]
  readonly tools?: readonly Tool[]
  readonly isKept?: boolean
}

export const WORKER: Profile = {
  name: "worker",
  description: "Works.",
  model: "script/below",
  instructions: "Work hard.",
}

/** A runtime with subagents, the tools `read` and `write`, and two scripted models; closed after the test. */
export async function openSubagents(options: SubagentOptions) {
  const {
    main,
    below = [],
    profiles = [WORKER],
    directories = [],
    tools = [],
    isKept = true,
    plugins = [],
    ...more
  } = options
  const provider = createScriptedProvider("script", { main, below })
  const runtime = await openTestRuntime({
    model: "script/main",
    plugins: [
      provider,
      createSubagentPlugin({ directories, profiles }),
      definePlugin({ kind: "tool", name: "files", tools: [...FILE_TOOLS, ...tools] }),
      ...plugins,
    ],
    ...(isKept && { dataDirectory: join(createFolder(), "data") }),
    ...more,
  })
  onTestFinished(() =>
    runtime.close().catch((error: unknown) => {
      // A test may have removed the store.
      if (!isMeanwhileError(error, "store_gone")) throw error
    }),
  )
  return { runtime, provider, session: await runtime.createSession() }
}

const FILE_TOOLS = ["read", "write"].map((name) =>
  defineTool({ name, description: `Can ${name}.`, input: z.object({}), run: async () => `did ${name}` }),
)

/** A model's answer that starts a subagent of the profile `worker`. */
export const spawn = (task: string, more: object = {}): ScriptStep => ({
  calls: [{ tool: "spawn_subagent", input: { task, profile: "worker", ...more } }],
})

export const resultsIn = (history: readonly Message[]): readonly ToolResult[] =>
  history.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "result" ? [part] : [])))

/** What the tools told the session's model, as text. */
export const toldTo = (session: Session): readonly string[] =>
  resultsIn(session.history()).map(({ content }) => content.map((part) => ("text" in part ? part.text : "")).join(""))

export const answersIn = (session: Session): readonly { readonly answer: string; readonly session: string }[] =>
  toldTo(session).map((text) => JSON.parse(text) as { answer: string; session: string })

export const requestsOf = ({ models }: ScriptedProvider, model: string): readonly ModelRequest[] =>
  models[model]?.requests ?? []
