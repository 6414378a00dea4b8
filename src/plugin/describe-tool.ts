import type { DurationEstimate } from "./task-service.ts"
import type { Tool } from "./tool.ts"

export interface DescribeOptions {
  /** The threshold of tools that can run in the background and name none. */
  readonly backgroundThresholdMs: number
  /** How long the tool's calls are known to take. */
  readonly estimate?: DurationEstimate | null
}

/** The description of a tool for the model: its purpose, when it leaves the foreground, and its usual duration. */
export function describeTool(tool: Tool, options: DescribeOptions): string {
  return [tool.description.trim(), describePolicy(tool, options), describeDuration(options.estimate)]
    .filter((sentence) => sentence !== "")
    .join(" ")
}

/**
 * Empty for a tool that always answers in the foreground, as a model expects of a tool anyway, and for one that says
 * nothing: the sentence would be the same for hundreds of tools, and the answer of a promoted call says it.
 */
function describePolicy(tool: Tool, options: DescribeOptions): string {
  const { background: policy = { mode: "never" } } = tool
  if (typeof policy === "function") {
    return `A call that takes longer than some seconds (how many depends on its input) ${GOES_ON}`
  }
  switch (policy.mode) {
    case "never":
      return ""
    case "on_request":
      return "Can be started in the background as a task; its result then comes back by itself."
    case "always":
      return "Runs in the background as a task; its result comes back by itself."
    case "after":
      return `A call that takes longer than ${toSpan(policy.ms ?? options.backgroundThresholdMs)} ${GOES_ON}`
  }
}

const GOES_ON = "goes on in the background as a task; its result comes back by itself."

function describeDuration(estimate: DurationEstimate | null | undefined): string {
  if (!estimate) return ""
  const median = toSpan(estimate.medianMs)
  if (estimate.source === "guess") return `Expected to take about ${median}.`
  return `Usually takes ${median}; nine of ten calls take less than ${toSpan(estimate.p90Ms)}.`
}

function toSpan(durationMs: number): string {
  if (durationMs < 1000) return `${Math.max(1, Math.round(durationMs))} ms`
  if (durationMs < 120_000) return `${Number((durationMs / 1000).toFixed(durationMs < 10_000 ? 1 : 0))} s`
  return `${Math.round(durationMs / 60_000)} min`
}
