import { z } from "zod"
import { MeanwhileError } from "../../src/base/error.ts"
import type { JsonValue } from "../../src/base/json.ts"
import type { BackgroundCapable, BackgroundHandle, BackgroundResult } from "../../src/plugin/background-capable.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { defineTool, type Tool } from "../../src/plugin/tool.ts"
import type { ToolPlugin } from "../../src/plugin/tool-plugin.ts"
import { eventually } from "./eventually.ts"

interface FarmTask {
  readonly id: string
  readonly tool: string
  readonly input: unknown
  readonly timeoutSeconds: number | undefined
  readonly callKey: string | undefined
  readonly ended: PromiseWithResolvers<void>
  status: BackgroundResult["status"]
  result: JsonValue
  error: string | null
}

/** A server with tasks of its own, which goes on when a Meanwhile dies. Its tasks end when the test says so. */
export interface RenderFarm {
  /** All tasks that the farm was ever asked to start. */
  readonly tasks: readonly FarmTask[]
  readonly cancelled: readonly string[]
  /** The n-th task, counted from 1, once it has been started. */
  task(number: number): Promise<FarmTask>
  end(number: number, end: Partial<Pick<FarmTask, "status" | "result" | "error">>): void
  forget(number: number): void
  /** A client of the farm with the tools `render`, which the farm runs, and `ping`, which answers at once. */
  connect(behaviour?: Partial<BackgroundCapable> & { readonly render?: Partial<Tool> }): ToolPlugin & BackgroundCapable
}

export function createRenderFarm(): RenderFarm {
  const tasks: FarmTask[] = []
  const cancelled: string[] = []
  const known = new Map<string, FarmTask>()

  function find(id: string): FarmTask {
    const task = known.get(id)
    if (task) return task
    throw new MeanwhileError("not_found", `The farm has no task ${id}.`)
  }
  function end(
    number: number,
    { status = "completed", result = null, error = null }: Parameters<RenderFarm["end"]>[1],
  ) {
    const task = tasks[number - 1]
    if (!task || task.status !== "running") return
    Object.assign(task, { status, result, error })
    task.ended.resolve()
  }
  const toHandle = ({ id, tool }: FarmTask): BackgroundHandle => ({
    taskId: id,
    pluginName: "farm",
    toolName: tool,
    createdAt: 0,
    estimatedDurationSeconds: null,
    metadata: {},
  })
  const contract: BackgroundCapable = {
    supportsBackground: async (tool) => tool === "render",
    autoBackgroundThreshold: async () => 5,
    estimateDuration: async () => 42,
    async startBackground(tool, input, timeoutSeconds, callKey) {
      const id = `farm-${tasks.length + 1}`
      const ended = Promise.withResolvers<void>()
      const task = { id, tool, input, timeoutSeconds, callKey, ended, status: "running", result: null, error: null }
      tasks.push(task as FarmTask)
      known.set(id, task as FarmTask)
      return toHandle(task as FarmTask)
    },
    getStatus: async (id) => find(id).status,
    async getResult(id, wait = false) {
      const task = find(id)
      if (wait) await task.ended.promise
      const { status, result, error } = find(id)
      return { taskId: id, status, result, error, startedAt: null, completedAt: null, durationSeconds: null }
    },
    async cancel(id) {
      const task = find(id)
      cancelled.push(id)
      end(tasks.indexOf(task) + 1, { status: "cancelled" })
      return true
    },
    listTasks: async () => tasks.filter(({ status }) => status === "running").map(toHandle),
    cleanupCompleted: async () => 0,
    registerRunningTask: async () => {
      throw new MeanwhileError("not_background_capable", "The farm runs what it started itself.")
    },
  }
  return {
    tasks,
    cancelled,
    task: (number) => eventually(`the farm has ${number} tasks`, () => tasks[number - 1]),
    end,
    forget(number) {
      const task = tasks[number - 1]
      if (!task) return
      known.delete(task.id)
      task.ended.resolve()
    },
    connect: ({ render = {}, ...behaviour } = {}) =>
      definePlugin({
        kind: "tool",
        name: "farm",
        tools: [{ ...createTool("render", "in the foreground"), ...render }, createTool("ping", "pong")],
        ...contract,
        ...behaviour,
      }),
  }
}

const createTool = (name: string, answer: string): Tool =>
  defineTool({
    name,
    description: `Does a ${name}.`,
    input: z.object({ scene: z.string().default("") }),
    run: async () => answer,
  })
