import { toErrorMessage } from "../base/error.ts"
import type { SessionId, TaskId, WorkspaceId } from "../task/id.ts"
import type { Answer } from "./task-service.ts"

/** A call about to be admitted, from any caller. */
export interface PendingCall {
  readonly plugin: string
  readonly tool: string
  readonly input: unknown
  readonly workspace: WorkspaceId
  readonly session: SessionId | null
  readonly parentTask: TaskId | null
}

export type CallDecision =
  | { readonly decision: "allow" }
  /** The call goes on with another input, which is validated again. */
  | { readonly decision: "change"; readonly input: unknown }
  | { readonly decision: "refuse"; readonly reason: string }

export type PromotedAnswer = Extract<Answer, { readonly outcome: "promoted" }>

/** The hooks of a tool plugin. Those of every exposed plugin see the calls of all plugins. */
export interface ToolHooks {
  /** Called before anything starts. A hook that throws refuses the call. */
  beforeToolCall?(call: PendingCall): Promise<CallDecision> | CallDecision
  /** Called after a foreground answer. An error it throws is ignored. */
  afterToolCall?(call: PendingCall, answer: Answer): Promise<void> | void
  /** The text the model reads when its call moved to the background. The first hook with a text wins. */
  tellPromoted?(promoted: PromotedAnswer): string | undefined
}

/** Asks the hooks in order: each sees the changes of those before it, and the first refusal is final. */
export async function decideCall(hooks: readonly ToolHooks[], call: PendingCall): Promise<CallDecision> {
  let current = call
  for (const hook of hooks) {
    const decision = await ask(hook, current)
    if (decision.decision === "refuse") return decision
    if (decision.decision === "change") current = { ...current, input: decision.input }
  }
  return current === call ? { decision: "allow" } : { decision: "change", input: current.input }
}

async function ask(hook: ToolHooks, call: PendingCall): Promise<CallDecision> {
  try {
    return (await hook.beforeToolCall?.(call)) ?? { decision: "allow" }
  } catch (error) {
    return { decision: "refuse", reason: `a hook failed: ${toErrorMessage(error)}` }
  }
}
