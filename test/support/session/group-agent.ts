import { createBackgroundPlugin } from "../../../src/builtin/background/background-plugin.ts"
import type { ScriptStep } from "../../../src/builtin/scripted/script.ts"
import type { JsonObject } from "../../../src/base/json.ts"
import { openReporting, type ReportingAgent, type ReportingOptions } from "./reporting.ts"

/** An agent that reports, and has the tools of the penguiflow vocabulary to start `gated` in groups. */
export function openGrouping(script: Iterable<ScriptStep>, options: ReportingOptions = {}): Promise<ReportingAgent> {
  return openReporting(script, { ...options, plugins: [createBackgroundPlugin({ vocabulary: "penguiflow" })] })
}

/** Calls that start these tasks as one group. */
export const spawns = (names: readonly string[], group: JsonObject): ScriptStep => ({
  calls: names.map((name) => ({
    tool: "tasks.spawn",
    input: { mode: "job", tool_name: "gated", tool_args: { name }, description: name, ...group },
  })),
})
