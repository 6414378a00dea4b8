import type { ToolCall } from "../../plugin/task-service.ts"
import type { Tool } from "../../plugin/tool.ts"
import type { PermissionRequest } from "../../plugin/permission-request.ts"
import type { Withdrawal } from "./withdrawal.ts"

interface AskedCall {
  readonly call: ToolCall
  readonly plugin: string
  readonly tool: Tool
  readonly input: unknown
}

/** What permission is asked for a call. The signal is made only when it is looked at. */
export function createPermissionRequest(asked: AskedCall, withdrawal: Withdrawal): PermissionRequest {
  return new AskedPermission(asked, withdrawal)
}

class AskedPermission implements PermissionRequest {
  readonly call: ToolCall
  readonly plugin: string
  readonly tool: string
  readonly input: unknown
  readonly definition: Tool
  readonly #withdrawal: Withdrawal

  constructor({ call, plugin, tool, input }: AskedCall, withdrawal: Withdrawal) {
    this.call = call
    this.plugin = plugin
    this.tool = tool.name
    this.input = input
    this.definition = tool
    this.#withdrawal = withdrawal
  }

  get signal(): AbortSignal {
    return this.#withdrawal.signal
  }
}
