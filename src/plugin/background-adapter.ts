import { isMeanwhileError, MeanwhileError } from "../base/error.ts"
import { throughPages } from "../base/pages.ts"
import { refuseFormerName } from "../base/rename-keys.ts"
import type { WorkspaceId } from "../task/id.ts"
import { isTerminal, LIVE_STATUSES } from "../task/lifecycle.ts"
import { STATUS_NAMES } from "../task/status-names.ts"
import { type BackgroundCapable, RUNS_HERE } from "./background-capable.ts"
import { toBackgroundHandle, toBackgroundResult } from "./background-view.ts"
import { parse } from "./schema.ts"
import type { TaskService, TaskView, ToolCall } from "./task-service.ts"
import { type BackgroundPolicy, backgroundOf, type Tool } from "./tool.ts"
import type { ToolPlugin } from "./tool-plugin.ts"

export interface BackgroundCapableOptions {
  /** The threshold of tools that can run in the background and name none. */
  readonly thresholdSeconds?: number
  /** How long a cancel waits for the work to end. */
  readonly cancelWaitSeconds?: number
  readonly workspace?: WorkspaceId
}

interface Adapter extends Required<Omit<BackgroundCapableOptions, "workspace">> {
  readonly plugin: ToolPlugin
  readonly service: TaskService
  readonly workspace: WorkspaceId | undefined
}

const RETENTION_SECONDS = 3_600
const LONGEST_WAIT_MS = 2_147_483_647

/** Gives an ordinary plugin the full contract: its tools run as tasks of the service. The plugin itself is not changed. */
export function backgroundCapable<Definition extends ToolPlugin>(
  plugin: Definition,
  service: TaskService,
  options: BackgroundCapableOptions = {},
): Definition & BackgroundCapable {
  refuseFormerName(options, "backgroundThresholdSeconds", "thresholdSeconds")
  const { thresholdSeconds = 10, cancelWaitSeconds = 15, workspace } = options
  const adapter = { plugin, service, thresholdSeconds, cancelWaitSeconds, workspace }
  return { ...plugin, ...createContract(adapter), [RUNS_HERE]: true }
}

function createContract(adapter: Adapter): BackgroundCapable {
  const { plugin, service, workspace } = adapter
  return {
    supportsBackground: async (toolName) => isCapable(adapter, toolName),
    autoBackgroundThreshold: async (toolName, input) => toThresholdSeconds(adapter, toolName, input),
    estimateDuration: (toolName, input) => estimateSeconds(adapter, toolName, input),
    async startBackground(toolName, input, timeoutSeconds) {
      const timeout = timeoutSeconds === undefined ? {} : { timeoutMs: timeoutSeconds * 1_000 }
      const { id } = await service.start({ ...toCall(adapter, toolName, input), ...timeout })
      return toBackgroundHandle(await service.get(id, workspace))
    },
    async getStatus(taskId) {
      const { task } = await requireOwn(adapter, taskId)
      return STATUS_NAMES[task.status].jaato
    },
    getResult: async (taskId, wait = false) => toBackgroundResult(await readResult(adapter, taskId, wait)),
    cancel: (taskId) => cancelAndLook(adapter, taskId),
    async listTasks() {
      const views = await liveTasks(adapter)
      return views.map(toBackgroundHandle)
    },
    async cleanupCompleted(maxAgeSeconds = RETENTION_SECONDS) {
      if (!(maxAgeSeconds >= 0)) {
        throw new MeanwhileError("invalid_input", `The age must be 0 seconds or more, not ${maxAgeSeconds}.`)
      }
      return service.cleanupCompleted(maxAgeSeconds * 1_000, workspace, plugin.name)
    },
    async registerRunningTask(work, toolName, input) {
      const { id } = await service.adopt(toCall(adapter, toolName, input), work)
      return toBackgroundHandle(await service.get(id, workspace))
    },
  }
}

function toolOf({ plugin }: Adapter, toolName: string): Tool | undefined {
  return plugin.tools.find((tool) => tool.name === toolName)
}

function isCapable(adapter: Adapter, toolName: string): boolean {
  const tool = toolOf(adapter, toolName)
  const background = tool && backgroundOf(tool)
  return typeof background === "function" || (background !== undefined && background.mode !== "never")
}

/** A tool whose policy depends on the input is asked with it. Without a valid input it counts as naming no threshold. */
function toThresholdSeconds(adapter: Adapter, toolName: string, input: unknown): number | null {
  const tool = toolOf(adapter, toolName)
  const parsed = tool && parse(tool.input, input)
  const background: Tool["background"] = tool ? backgroundOf(tool) : { mode: "never" }
  const undecided: BackgroundPolicy = { mode: "after" }
  const policy = typeof background !== "function" ? background : parsed?.success ? background(parsed.data) : undecided
  if (policy.mode === "never" || policy.mode === "on_request") return null
  if (policy.mode === "always") return 0
  return policy.ms === undefined ? adapter.thresholdSeconds : policy.ms / 1_000
}

async function estimateSeconds(adapter: Adapter, toolName: string, input: unknown): Promise<number | null> {
  if (!toolOf(adapter, toolName)) return null
  try {
    const estimate = await adapter.service.estimate({ tool: toolName, plugin: adapter.plugin.name, input })
    return estimate && estimate.medianMs / 1_000
  } catch (error) {
    if (isMeanwhileError(error, "invalid_input")) return null
    throw error
  }
}

function toCall(adapter: Adapter, toolName: string, input: unknown): ToolCall {
  const { plugin, workspace } = adapter
  if (!isCapable(adapter, toolName)) {
    const capable = plugin.tools.map((tool) => tool.name).filter((name) => isCapable(adapter, name))
    throw new MeanwhileError(
      "not_background_capable",
      `${toolName} of plugin "${plugin.name}" cannot run in the background. ${capable.length > 0 ? `These can: ${capable.join(", ")}.` : "None of its tools can."}`,
      { plugin: plugin.name, tool: toolName, capable },
    )
  }
  return { plugin: plugin.name, tool: toolName, input, ...(workspace !== undefined && { workspace }) }
}

async function requireOwn({ plugin, service, workspace }: Adapter, taskId: string): Promise<TaskView> {
  const view = await service.get(taskId, workspace)
  if (view.task.plugin === plugin.name) return view
  throw new MeanwhileError("not_found", `Plugin "${plugin.name}" has no task ${taskId}.`, { taskId })
}

async function readResult(adapter: Adapter, taskId: string, wait: boolean): Promise<TaskView> {
  const { task } = await requireOwn(adapter, taskId)
  for (;;) {
    const options = { consume: true, waitMs: wait ? LONGEST_WAIT_MS : 0 }
    const view = await adapter.service.result(task.id, options, adapter.workspace)
    if (!wait || isTerminal(view.task.status)) return view
  }
}

async function cancelAndLook(adapter: Adapter, taskId: string): Promise<boolean> {
  const { service, workspace, cancelWaitSeconds } = adapter
  const before = await requireOwn(adapter, taskId)
  if (isTerminal(before.task.status)) return true
  const { id } = await service.cancel(before.task.id, { by: "model", reason: "cancelled by its caller" }, workspace)
  const { task } = await service.result(id, { waitMs: cancelWaitSeconds * 1_000 }, workspace)
  if (task.status !== "cancelled" && task.status !== "timed_out") return isTerminal(task.status)
  return task.survivors !== "unknown" && task.survivors.length === 0
}

async function liveTasks({ plugin, service, workspace }: Adapter): Promise<readonly TaskView[]> {
  const filter = { plugin: plugin.name, statuses: LIVE_STATUSES, ...(workspace !== undefined && { workspace }) }
  const views: TaskView[] = []
  for await (const items of throughPages((from) => service.list(filter, from))) {
    for (const { id } of items) {
      const view = await service.get(id, workspace).catch(unlessGone)
      if (view && !isTerminal(view.task.status)) views.push(view)
    }
  }
  return views
}

function unlessGone(error: unknown): undefined {
  if (!isMeanwhileError(error, "not_found")) throw error
}
