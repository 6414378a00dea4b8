import type { DurationEstimate } from "./task-service.ts"
import { backgroundOf, type Tool } from "./tool.ts"

export interface DescribeOptions {
  /** How long the tool's calls are known to take. */
  readonly estimate?: DurationEstimate | null
}

/** The description of a tool for the model: its purpose, when it leaves the foreground, and its usual duration. */
export function describeTool(tool: Tool, { estimate }: DescribeOptions = {}): string {
  return [tool.description.trim(), describePolicy(tool), describeDuration(estimate)]
    .filter((sentence) => sentence !== "")
    .join(" ")
}

/**
 * For the system prompt, once: in the description of every tool that moves at the configured threshold the sentence would be
 * the same, 20 kB of it for 200 tools. Empty if no tool does.
 */
export function describeThreshold(tools: readonly Tool[], thresholdMs: number): string {
  if (!tools.some(movesAtThreshold)) return ""
  return `Unless its tool says otherwise, a call that takes longer than ${toSpan(thresholdMs)} ${GOES_ON}`
}

function movesAtThreshold(tool: Tool): boolean {
  const policy = backgroundOf(tool)
  return typeof policy === "object" && policy.mode === "after" && policy.ms === undefined
}

/** Empty for a tool that always answers in the foreground, as a model expects of a tool anyway. */
function describePolicy(tool: Tool): string {
  const policy = backgroundOf(tool)
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
      return policy.ms === undefined ? "" : `A call that takes longer than ${toSpan(policy.ms)} ${GOES_ON}`
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
