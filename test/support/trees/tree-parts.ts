import { join } from "node:path"
import { z } from "zod"
import type { RuntimeOptions } from "../../../src/app.ts"
import { MeanwhileError } from "../../../src/base/error.ts"
import type { ScriptStep } from "../../../src/builtin/scripted/script.ts"
import { createScriptedModel } from "../../../src/builtin/scripted/scripted-model.ts"
import { createShellPlugin } from "../../../src/builtin/shell/shell-plugin.ts"
import { createSubagentPlugin } from "../../../src/builtin/subagent/subagent-plugin.ts"
import { definePlugin } from "../../../src/plugin/define-plugin.ts"
import { textOf } from "../../../src/plugin/message.ts"
import type { ModelRequest } from "../../../src/plugin/model.ts"
import type { ToolCall } from "../../../src/plugin/task-service.ts"
import { defineTool, type Tool } from "../../../src/plugin/tool.ts"
import { allowAll } from "../../../src/runner/admit/permission.ts"
import type { BackgroundConfigInput } from "../../../src/runner/limits/background-config.ts"
import type { TaskId } from "../../../src/task/id.ts"
import { hasRest, type TreeNode } from "./tree-plan.ts"

/** A node as it is seen from outside: by its model and its tools. */
export interface Grown {
  readonly node: TreeNode
  readonly isFailFast: boolean
  taskId: TaskId | null
  /** Model calls and calls of tools that are under way. */
  inFlight: number
  /** True once its work has begun, or it is in the queue. */
  hasBegun: boolean
  /** Lets its work fail; null while there is none that could. */
  fail: (() => void) | null
  /** Once it is set, every model call and every start of a tool is a violation. */
  mustRest: boolean
}

export interface TreeParts {
  /** The options of a runtime whose agents grow the trees. */
  readonly options: RuntimeOptions
  /** Work that began although it must not. */
  readonly violations: string[]
  /** Registers a tree under names that no other has in this process. */
  plant(nodes: readonly TreeNode[], isFailFast: boolean): Grove
  keyOf(node: TreeNode): string
}

export interface TreeOptions {
  /** Called at every model call, with the node's key. */
  readonly onRequest?: (key: string) => void
  readonly background?: BackgroundConfigInput
}

export type Grove = ReadonlyMap<TreeNode, Grown>

const LONG_MS = 3_600_000

/**
 * Agents that grow the trees that are planted: the model of each is asked who it is, and starts its children. What it says
 * next follows from its conversation, so another process can go on with it.
 */
export function createTreeParts(folder: string, { onRequest, background }: TreeOptions = {}): TreeParts {
  const grown = new Map<string, Grown>()
  const keys = new Map<TreeNode, string>()
  const violations: string[] = []
  let planted = 0

  function find(key: string): Grown {
    const found = grown.get(key)
    if (!found) throw new Error(`There is no node ${key}.`)
    if (found.mustRest) violations.push(`${key} went on after its stop was confirmed`)
    return found
  }

  async function answer(request: ModelRequest): Promise<ScriptStep> {
    const key = nameIn(request)
    const one = find(key)
    onRequest?.(key)
    one.hasBegun = true
    const answers = request.messages.filter(({ role }) => role === "assistant").length
    const { children } = one.node
    if (answers === 0 && children.length > 0) return { calls: children.map((child) => toCall(keyOf(child), child)) }
    if (answers === 1 && hasRest(one.node)) return "I wait for what I started."
    return hold(one, request.signal)
  }

  async function hold(one: Grown, signal: AbortSignal): Promise<ScriptStep> {
    const held = Promise.withResolvers<never>()
    const stop = (): void => held.reject(signal.reason as Error)
    one.inFlight += 1
    one.fail = () => held.reject(new MeanwhileError("model_refused", "The model refuses."))
    signal.addEventListener("abort", stop)
    try {
      signal.throwIfAborted()
      return await held.promise
    } finally {
      one.inFlight -= 1
      one.fail = null
    }
  }

  const keyOf = (node: TreeNode): string => keys.get(node) ?? ""
  const toTaskCall = ({ node }: Grown): ToolCall => toCallOf(node, keyOf(node))
  const tools = createTreeTools(find, toTaskCall)
  return {
    options: {
      dataDirectory: join(folder, "data"),
      environment: {},
      permissions: allowAll,
      model: createScriptedModel(forEver(answer), { keepsRequests: false }),
      background: { ...ROOMY, ...background },
      plugins: [
        createSubagentPlugin({ directories: [], profiles: [] }),
        definePlugin({ kind: "tool", name: "tree", tools }),
        createShellPlugin({
          workingDirectory: folder,
          environment: { PATH: process.env["PATH"] ?? "", MEANWHILE_TEST: folder },
        }),
      ],
    },
    violations,
    plant(nodes, isFailFast) {
      planted += 1
      return new Map(
        nodes.map((node): [TreeNode, Grown] => {
          const key = `${planted}.${node.name}`
          const state = { node, isFailFast, taskId: null, inFlight: 0, hasBegun: false, fail: null, mustRest: false }
          const one: Grown = state
          keys.set(node, key)
          grown.set(key, one)
          return [node, one]
        }),
      )
    },
    keyOf,
  }
}

/** The lease of a process that the test freezes or kills. */
export const LEASE_SECONDS = 2

const ROOMY = {
  maxConcurrentTasks: 1_000,
  maxConcurrentPerPlugin: 1_000,
  maxConcurrentPerSession: 1_000,
  maxAgentDepth: 10,
  maxAgentFanOut: 100,
  stopGraceSeconds: 1,
}

function toCallOf(node: TreeNode, key: string): ToolCall {
  const lifetime = node.livesForever ? ({ lifetime: "forever" } as const) : {}
  switch (node.kind) {
    case "agent":
    case "called":
      return { tool: "spawn_subagent", input: toAgentInput(key), ...lifetime }
    case "command":
      return { tool: "run_command", input: { command: "sleep 3600" }, ...lifetime }
    case "delayed":
      return { tool: "hold", input: { key }, delayMs: LONG_MS, ...lifetime }
    default:
      return { tool: node.kind === "asking" ? "ask" : "hold", input: { key }, ...lifetime }
  }
}

const toAgentInput = (key: string) => ({ task: `NODE ${key} .`, name: key })

function toCall(key: string, node: TreeNode) {
  return node.kind === "called"
    ? { tool: "spawn_subagent", input: toAgentInput(key) }
    : { tool: "grow", input: { key } }
}

/** An agent is known by the first message of its conversation. */
function nameIn({ messages }: ModelRequest): string {
  const [first] = messages
  return /NODE (\S+)/.exec(first ? textOf(first) : "")?.[1] ?? "unknown"
}

function* forEver(step: (request: ModelRequest) => Promise<ScriptStep>): Generator<ScriptStep> {
  for (;;) yield step
}

const keyed = z.object({ key: z.string() })

function createTreeTools(find: (key: string) => Grown, toTaskCall: (grown: Grown) => ToolCall): readonly Tool[] {
  const grow = defineTool({
    name: "grow",
    description: "Starts a node below the agent.",
    input: keyed,
    startsForCaller: true,
    run: async ({ key }, { tasks }) => {
      const grown = find(key)
      const { isMember } = grown.node
      const about = { name: "together", failFast: grown.isFailFast }
      const group = isMember ? (await tasks.groups.open(about)).id : null
      const { id } = await tasks.start({ ...toTaskCall(grown), group, title: key })
      grown.taskId = id
      if (grown.node.kind === "delayed") grown.hasBegun = true
      return id
    },
  })
  const hold = defineTool({
    name: "hold",
    description: "Works until it is stopped.",
    input: keyed,
    background: { mode: "always" },
    run: ({ key }, { signal }) => {
      const grown = find(key)
      grown.hasBegun = true
      grown.inFlight += 1
      return new Promise<never>((_resolve, reject) => {
        const end = (reason: unknown): void => {
          grown.inFlight -= 1
          grown.fail = null
          reject(reason)
        }
        grown.fail = () => end(new Error("It broke."))
        signal.addEventListener("abort", () => end(signal.reason), { once: true })
      })
    },
  })
  const ask = defineTool({
    name: "ask",
    description: "Asks a person.",
    input: keyed,
    background: { mode: "always" },
    run: async ({ key }, { person, signal }) => {
      const grown = find(key)
      grown.hasBegun = true
      grown.inFlight += 1
      try {
        return { ...(await person.ask({ kind: "text", text: `Which, ${key}?` }, signal)) }
      } finally {
        grown.inFlight -= 1
      }
    },
  })
  return [grow, hold, ask]
}
