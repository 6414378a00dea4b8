import { expect } from "vitest"
import { z } from "zod"
import type { AgentRequest } from "../../src/plugin/agent-request.ts"
import type { PermissionDecision } from "../../src/plugin/permission-request.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import type { AgentsPort } from "../../src/runner/run/run-ports.ts"
import { createSessionId, type SessionId, type TaskId } from "../../src/task/id.ts"
import { beginRunnerLife } from "./runner-life.ts"
import { createGatedTool, echo } from "./tools.ts"
import { createFolder } from "./workplace.ts"

interface Begun {
  readonly input: AgentRequest
  print(text: string): void
  finish(text: string): void
  fail(): void
}

/** An agent whose runs end when the test says so, with a conversation that the test can take away. */
export async function openAgents(permission?: () => PermissionDecision) {
  const begun: Begun[] = []
  const agent = defineTool<AgentRequest>({
    name: "agent",
    description: "Does what it is told.",
    kind: "agent",
    input: z.object({ task: z.string(), profile: z.string().optional(), resumes: z.string().optional() }) as never,
    background: { mode: "always" },
    title: ({ task }) => `agent: ${task}`,
    onCrash: "retry",
    resume: ({ profile }, prompt, resumes) => ({ task: prompt, resumes, ...(profile && { profile }) }),
    run: (input, { signal, output }) => {
      const { promise, resolve, reject } = Promise.withResolvers<string>()
      signal.addEventListener("abort", () => reject(signal.reason as Error))
      const print = (text: string): void => output.write(text)
      begun.push({ input, print, finish: resolve, fail: () => reject(new Error("no")) })
      return promise
    },
  })
  const stubborn = { ...agent, name: "stubborn" }
  Reflect.deleteProperty(stubborn, "resume")
  const caller = createGatedTool({ name: "caller", obeys: true })
  const said: string[] = []
  let session: SessionId | null = createSessionId()
  const agents: AgentsPort = {
    sessionOf: async () => session,
    say: async (task, to, text) => void said.push(`${task.id} ${to} ${text}`),
  }
  const { runner, store } = await beginRunnerLife(createFolder(), {
    tools: [agent, stubborn, echo, caller.tool],
    maxHops: 2,
    conversations: { agents },
    ...(permission && { permission: { decide: permission } }),
  })
  const next = async (): Promise<Begun> => {
    for (;;) {
      const one = begun.shift()
      if (one) return one
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const ended = (id: TaskId) => runner.result(id, { waitMs: 30_000 })
  async function complete(input: AgentRequest = { task: "look", profile: "scout" }, tool = "agent") {
    const { id } = await runner.start({ tool, input, session: createSessionId() })
    ;(await next()).finish("seen")
    await ended(id)
    return id
  }
  const loseSession = () => {
    session = null
  }
  return { runner, store, next, ended, complete, said, session, loseSession, caller }
}

export function refused(text: string): { readonly code: string; readonly message: unknown } {
  const message: unknown = expect.stringContaining(text)
  return { code: "wrong_state", message }
}
