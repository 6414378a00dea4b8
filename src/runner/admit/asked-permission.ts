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

/** Called before a person is asked; the question waits for it. Called once. */
export type OnAsked = () => Promise<void>

/** The request that permission decides about. Expensive facts are looked up only when asked for. */
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
