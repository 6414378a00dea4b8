import { MeanwhileError } from "../../../base/error.ts"
import { findNearNames } from "../../../base/near-name.ts"
import type { BackgroundCall } from "./background-call.ts"
import type { CapableTool } from "./capable-tool.ts"

/** The tool to be started. Nothing is started on behalf of a model that it could not call itself. */
export function findTool(call: BackgroundCall, name: string, plugin?: string): CapableTool {
  const capable = call.capable()
  const found = capable.find((each) => each.tool.name === name && (plugin === undefined || each.plugin === plugin))
  if (found) return found
  const names = capable.map((each) => each.tool.name)
  const these = names.length > 0 ? `These can: ${names.join(", ")}.` : "No tool here can."
  const offered = call.context.sessions.offers().filter(({ tool }) => tool === name)
  if (offered.some((each) => plugin === undefined || each.plugin === plugin)) {
    throw new MeanwhileError("not_background_capable", `${name} cannot run in the background. ${these}`, { tool: name })
  }
  const near = findNearNames(name, names)
  const hint = near.length > 0 ? `Did you mean ${near.join(", ")}?` : these
  const where = plugin === undefined ? "" : ` of plugin ${plugin}`
  throw new MeanwhileError("unknown_tool", `There is no tool ${name}${where} to run in the background. ${hint}`, {
    tool: name,
  })
}

/** The tool that starts agents. */
export function findAgentTool(call: BackgroundCall): CapableTool {
  const found = call.capable().find(({ tool }) => tool.kind === "agent")
  if (found) return found
  const message = "No tool here starts agents. Do the work yourself, or start its parts as tasks."
  throw new MeanwhileError("not_background_capable", message)
}
