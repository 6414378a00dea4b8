import type { HostedTool } from "../../../plugin/plugin-host.ts"
import type { OfferedTool } from "../../../plugin/sessions-port.ts"
import { backgroundOf, type Tool } from "../../../plugin/tool.ts"

/** A tool that can run in the background. */
export interface CapableTool {
  readonly plugin: string
  readonly tool: Tool
  /** After how long its calls move to the background. `input`: the input decides; `never`: only on request. */
  readonly movesAfterMs: number | "input" | "start" | "never"
  /** The threshold of a policy that names none. */
  readonly thresholdMs: number
  /** True if only some sessions may hear of it. */
  readonly isPrivate: boolean
}

const MOST_NAMED = 60

export function findCapable(tools: readonly HostedTool[], thresholdMs: number): readonly CapableTool[] {
  return tools.flatMap(({ plugin, tool, isPrivate }) => {
    const movesAfterMs = toMovesAfterMs(tool, thresholdMs)
    return movesAfterMs === null ? [] : [{ plugin, tool, movesAfterMs, thresholdMs, isPrivate }]
  })
}

/** Keeps the tools that the model of a session can call. */
export function onlyOffered(capable: readonly CapableTool[], offers: readonly OfferedTool[]): readonly CapableTool[] {
  return capable.filter(({ plugin, tool }) =>
    offers.some((offered) => offered.plugin === plugin && offered.tool === tool.name),
  )
}

/** Null: the tool cannot run in the background. A tool that decides by its input counts as one that can. */
function toMovesAfterMs(tool: Tool, thresholdMs: number): CapableTool["movesAfterMs"] | null {
  const background = backgroundOf(tool)
  if (typeof background === "function") return "input"
  if (background.mode === "always") return "start"
  if (background.mode === "on_request") return "never"
  return background.mode === "after" ? (background.ms ?? thresholdMs) : null
}

/** The tools as a description names them: `run_command (moves there by itself after 10 s), …`. */
export function describeCapable(capable: readonly CapableTool[]): string {
  if (capable.length === 0) return "none is exposed now"
  const named = capable.slice(0, MOST_NAMED).map((each) => `${each.tool.name} (${describeMove(each)})`)
  const more = capable.length - named.length
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])].join(", ")
}

function describeMove({ movesAfterMs }: CapableTool): string {
  if (movesAfterMs === "start") return "is there from the start"
  if (movesAfterMs === "never") return "only when it is started there"
  if (movesAfterMs === "input") return "moves there by itself after some seconds, depending on its input"
  return `moves there by itself after ${Number((movesAfterMs / 1_000).toFixed(1))} s`
}
