import { z } from "zod"
import { isMeanwhileError, toErrorMessage } from "../../../../base/error.ts"
import type { JsonObject } from "../../../../base/json.ts"
import { lazily } from "../../../../base/lazily.ts"
import { toBackgroundResult } from "../../../../plugin/background-view.ts"
import type { TaskView } from "../../../../plugin/task-service.ts"
import { LIVE_STATUSES } from "../../../../task/lifecycle.ts"
import { STATUS_NAMES } from "../../../../task/status-names.ts"
import { toLack, toPlainResult } from "../task-facts.ts"
import { defineVocabularyTool, type VocabularyTool } from "../vocabulary.ts"
import { isPlugin, toPluginName, toToolName } from "./names.ts"

/** The limit of a wait "until it completes". A message of the person ends the wait at once. */
const LONGEST_WAIT_MS = 24 * 60 * 60 * 1_000

const taskId = lazily(() => z.string().min(1).describe("Task ID returned from startBackgroundTask"))

export const createTaskTools = (): readonly VocabularyTool[] => [
  defineVocabularyTool({
    name: "getBackgroundTaskStatus",
    description: () => "Check the current status of a background task.",
    input: z.strictObject({ task_id: taskId() }),
    isAutoApproved: true,
    run: ({ task_id: id }, operations) => orError(id, async () => toStatus(await operations.look(id))),
  }),
  defineVocabularyTool({
    name: "getBackgroundTaskResult",
    description: () =>
      `Get the result of a background task.

If the task is still running, returns current status without blocking.
Results of ended tasks come back to you by themselves: use this to read one again.`,
    input: z.strictObject({
      task_id: taskId(),
      wait: z.boolean().default(false).describe("If true, block until task completes (default: false)"),
    }),
    isAutoApproved: true,
    waitsMs: ({ wait }) => (wait ? LONGEST_WAIT_MS : 0),
    async run({ task_id: id, wait }, operations) {
      const found = await orError(id, async () => {
        if (wait) await operations.wait({ tasks: [id], limitMs: LONGEST_WAIT_MS })
        return operations.look(id)
      })
      // An error from here on fails the call: an answer would count as having shown the result.
      return "error" in found ? found : toResult(await operations.read(found.task.id))
    },
  }),
  defineVocabularyTool({
    name: "cancelBackgroundTask",
    description: () => "Cancel a running background task.",
    input: z.strictObject({ task_id: z.string().min(1).describe("Task ID to cancel") }),
    isAutoApproved: false,
    title: ({ task_id: id }) => `cancel task ${id}`,
    run: ({ task_id: id }, operations) =>
      orError(id, async () => {
        const { task } = await operations.look(id)
        return { task_id: task.id, cancelled: await operations.cancelAndLook(task.id) }
      }),
  }),
  defineVocabularyTool({
    name: "listBackgroundTasks",
    description: () => "List all active background tasks across all plugins.",
    input: z.strictObject({ plugin_name: z.string().optional().describe("Optional: filter by plugin name") }),
    isAutoApproved: true,
    async run({ plugin_name: plugin }, operations) {
      const live = await operations.list({ statuses: LIVE_STATUSES })
      const wanted = live.filter((task) => plugin === undefined || isPlugin(task.plugin, plugin))
      const tasks = await Promise.all(wanted.map(async ({ id }) => toHandle(await operations.look(id))))
      return { tasks, count: tasks.length }
    },
  }),
  defineVocabularyTool({
    name: "listBackgroundCapableTools",
    description: () =>
      `List all tools that support background execution.

Use this to discover which tools can be run in background mode.`,
    input: z.strictObject({}),
    isAutoApproved: true,
    async run(_, operations) {
      const tools = operations.call.capable().map(({ plugin, tool }) => ({
        plugin_name: toPluginName(plugin),
        tool_name: toToolName(tool.name),
      }))
      return { tools, count: tools.length }
    },
  }),
]

/** Turns an error into an answer in this vocabulary's words. Not for calls that claim a result. */
async function orError<Found extends object>(
  id: string,
  work: () => Promise<Found>,
): Promise<Found | { readonly error: string }> {
  try {
    return await work()
  } catch (error) {
    return { error: isMeanwhileError(error, "not_found") ? `Task '${id}' not found` : toErrorMessage(error) }
  }
}

function toStatus({ task, missing }: TaskView): JsonObject {
  const status = STATUS_NAMES[task.status].jaato
  return { task_id: task.id, plugin_name: toPluginName(task.plugin), status, ...toLack(missing) }
}

function toResult(view: TaskView): JsonObject {
  const { task } = view
  const { error, durationSeconds } = toBackgroundResult(view)
  const patch = "patch" in task ? task.patch : null
  return { ...toStatus(view), result: patch && toPlainResult(patch), error, duration_seconds: durationSeconds }
}

function toHandle({ task, estimate, missing }: TaskView): JsonObject {
  return {
    ...toLack(missing),
    task_id: task.id,
    plugin_name: toPluginName(task.plugin),
    tool_name: toToolName(task.tool),
    created_at: new Date(task.createdAt).toISOString(),
    estimated_duration_seconds: estimate && estimate.medianMs / 1_000,
  }
}
