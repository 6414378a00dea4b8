import { MeanwhileError } from "../base/error.ts"
import { createNewestMap } from "../base/newest-map.ts"
import { unlessAborted } from "../base/unless-aborted.ts"
import { carryCall, type Elsewhere, endCarried } from "./carry-call.ts"
import type { BackgroundCapable } from "./background-capable.ts"
import { type BackgroundPolicy, kindOf, type Tool } from "./tool.ts"
import type { ContributingPlugin } from "./tool-index.ts"

const ESTIMATE_WAIT_MS = 500
const MOST_ESTIMATES = 100

/**
 * The tools of a plugin that runs its work elsewhere, as tools of ours: each call is a task there, and one here that
 * carries it. The plugin is asked once what its tools can do; its answers hold until it is exposed or refreshed again.
 * A tool of another kind than `tool` runs as it is.
 */
export async function carryTools(plugin: ContributingPlugin & BackgroundCapable): Promise<readonly Tool[]> {
  return Promise.all((plugin.tools ?? []).map((tool) => carryTool({ plugin, tool })))
}

async function carryTool(elsewhere: Elsewhere): Promise<Tool> {
  const { plugin, tool } = elsewhere
  if (kindOf(tool) !== "tool") return tool
  if (!(await plugin.supportsBackground(tool.name))) {
    return { ...tool, background: { mode: "never" }, run: (input, context) => tool.run(input, context) }
  }
  return {
    ...tool,
    background: toPolicy(elsewhere, await plugin.autoBackgroundThreshold(tool.name)),
    estimateMs: createEstimate(elsewhere),
    // All that a run does beside its one step can be done again.
    reattaches: true,
    endElsewhere: (steps) => endCarried(elsewhere, steps),
    run: (input, context) => carryCall(elsewhere, input, context),
  }
}

/** A call whose time is up before it would leave the foreground stays there. */
function toPolicy({ plugin, tool }: Elsewhere, seconds: number | null): BackgroundPolicy {
  if (seconds === null) return { mode: "on_request" }
  if (!Number.isFinite(seconds) || seconds < 0) {
    throw new MeanwhileError(
      "invalid_input",
      `Plugin "${plugin.name}" says that ${tool.name} leaves the foreground after ${seconds} seconds. Let it say a number from 0, or null for never.`,
      { plugin: plugin.name, tool: tool.name },
    )
  }
  if (seconds === 0) return { mode: "always" }
  const ms = seconds * 1_000
  return typeof tool.timeoutMs === "number" && tool.timeoutMs <= ms ? { mode: "on_request" } : { mode: "after", ms }
}

/** Readers of a task are shown the estimate without waiting for it: a late estimate is shown the next time. */
function createEstimate({ plugin, tool }: Elsewhere): NonNullable<Tool["estimateMs"]> {
  const asked = createNewestMap<string, Promise<number | null>>(MOST_ESTIMATES)
  return async (input) => {
    const key = JSON.stringify(input)
    const estimate = asked.get(key) ?? plugin.estimateDuration(tool.name, input)
    asked.set(key, estimate)
    estimate.catch(() => asked.delete(key))
    const seconds = await unlessAborted(AbortSignal.timeout(ESTIMATE_WAIT_MS), estimate).catch(() => null)
    return seconds !== null && seconds >= 0 ? seconds * 1_000 : undefined
  }
}
