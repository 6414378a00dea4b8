import { z } from "zod"
import { defined } from "../../../../base/defined.ts"
import { toErrorMessage } from "../../../../base/error.ts"
import type { JsonObject } from "../../../../base/json.ts"
import type { CapableTool } from "../../operations/capable-tool.ts"
import { lifetime, timeoutSeconds, toLimitText, toTimeoutMs } from "../time-limit.ts"
import { defineVocabularyTool, type VocabularyTool } from "../vocabulary.ts"
import { isPlugin, isTool, toPluginName, toToolName } from "./names.ts"

export const createStartTool = (): VocabularyTool =>
  defineVocabularyTool({
    name: "startBackgroundTask",
    description: () =>
      `Start a tool execution in the background.

Use this when you anticipate a tool call will take significant time
(e.g., long builds, complex searches, external API calls). The task
runs asynchronously and you can continue with other work.

Returns a task_id. The result comes back to you by itself when the task ends.`,
    input: z.strictObject({
      plugin_name: z.string().optional().describe("Name of the plugin providing the tool"),
      tool_name: z.string().describe("Name of the tool to execute"),
      arguments: z.record(z.string(), z.json()).describe("Arguments to pass to the tool"),
      timeout_seconds: timeoutSeconds().optional().describe("Optional timeout in seconds"),
      lifetime: lifetime().optional(),
    }),
    isAutoApproved: false,
    title: ({ tool_name: tool }) => `start ${tool}`,
    starts: {
      find({ plugin_name: plugin, tool_name: tool, arguments: input }, capable) {
        const found = findCapable(capable, tool, plugin)
        return "error" in found ? undefined : { tool: found.tool, input }
      },
      change: (input, started) => ({ ...input, arguments: started }),
    },
    async run(asked, operations) {
      const { plugin_name: plugin, tool_name: tool, arguments: input, timeout_seconds: seconds, lifetime } = asked
      const found = findCapable(operations.call.capable(), tool, plugin)
      if ("error" in found) return { success: false, error: found.error }
      try {
        const limits = { timeoutMs: toTimeoutMs(seconds), lifetime }
        const call = defined({ tool: found.tool.name, plugin: found.plugin, input, ...limits })
        const { outcome, task } = await operations.start(call)
        const { estimate } = await operations.look(task.id)
        const comes = `Its result comes back by itself; task_id '${task.id}' is for looking at it or cancelling it.`
        return {
          success: true,
          task_id: task.id,
          plugin_name: toPluginName(task.plugin),
          tool_name: toToolName(task.tool),
          estimated_duration_seconds: estimate && estimate.medianMs / 1_000,
          message:
            outcome === "started"
              ? ["Task started in background.", toLimitText(task), comes].filter((part) => part !== "").join(" ")
              : `The same call runs in the background already, so nothing was started. ${comes}`,
        } satisfies JsonObject
      } catch (error) {
        return { success: false, error: toErrorMessage(error) }
      }
    },
  })

function findCapable(
  capable: readonly CapableTool[],
  tool: string,
  plugin: string | undefined,
): CapableTool | { readonly error: string } {
  const ofPlugin = plugin === undefined ? capable : capable.filter((each) => isPlugin(each.plugin, plugin))
  const found = ofPlugin.find((each) => isTool(each.tool.name, tool))
  if (found) return found
  const names = [...new Set(capable.map((each) => `'${toPluginName(each.plugin)}'`))].join(", ")
  if (plugin !== undefined && ofPlugin.length === 0) {
    return { error: `Plugin '${plugin}' does not support background execution. Capable plugins: [${names}]` }
  }
  const where = plugin === undefined ? "" : ` in plugin '${plugin}'`
  const which = plugin === undefined ? `. Capable plugins: [${names}]` : ""
  return { error: `Tool '${tool}'${where} does not support background execution${which}` }
}
