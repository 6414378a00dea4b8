import type { ToolCall } from "../../plugin/task-service.ts"
import type { Tool } from "../../plugin/tool.ts"
import type { PermissionRequest } from "../../plugin/permission-request.ts"
import { isInBackground } from "../run/runs-above.ts"
import type { HasActive, HasStore } from "../run/scope.ts"
import type { Withdrawal } from "./withdrawal.ts"

interface AskedCall {
  readonly call: ToolCall
  readonly plugin: string
  readonly tool: Tool
  readonly input: unknown
}

/** Whom the question must wait for. Nobody is told twice. */
export type OnAsked = () => Promise<void>

/** What permission is asked for a call. What few look at is found out when they do. */
export function createPermissionRequest(
  scope: HasStore & HasActive,
  asked: AskedCall,
  withdrawal: Withdrawal,
  onAsked: OnAsked,
): PermissionRequest {
  return new AskedPermission(scope, asked, withdrawal, onAsked)
}

class AskedPermission implements PermissionRequest {
  readonly call: ToolCall
  readonly plugin: string
  readonly tool: string
  readonly input: unknown
  readonly definition: Tool
  readonly #scope: HasStore & HasActive
  readonly #withdrawal: Withdrawal
  readonly #onAsked: OnAsked

  constructor(
    scope: HasStore & HasActive,
    { call, plugin, tool, input }: AskedCall,
    withdrawal: Withdrawal,
    onAsked: OnAsked,
  ) {
    this.call = call
    this.plugin = plugin
    this.tool = tool.name
    this.input = input
    this.definition = tool
    this.#scope = scope
    this.#withdrawal = withdrawal
    this.#onAsked = onAsked
  }

  isInBackground(): Promise<boolean> {
    return isInBackground(this.#scope, this.call.parentTask)
  }

  beforeAsking(): Promise<void> {
    return this.#onAsked()
  }

  get signal(): AbortSignal {
    return this.#withdrawal.signal
  }
}
