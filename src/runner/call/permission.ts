import type { Question } from "../../plugin/person-port.ts"
import type { ToolCall } from "../../plugin/task-service.ts"
import type { Tool } from "../../plugin/tool.ts"

export interface PermissionRequest {
  readonly call: ToolCall
  readonly plugin: string
  readonly tool: string
  /** As the tool's schema gives it to `run`. */
  readonly input: unknown
  readonly definition: Tool
  /** Aborted when nobody wants the call any more: a question about it can be withdrawn. */
  readonly signal: AbortSignal
}

export type PermissionDecision =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly reason: string }
  /** Nobody is there to be asked now: the call becomes a task that waits for the answer. Unanswered in time means no. */
  | { readonly allowed: "ask"; readonly question: Question; readonly expiresInMs: number | null }

/** What a person has to say yes to before the call may run. */
export type Approval = Extract<PermissionDecision, { allowed: "ask" }>

/** Asked once for every call, at admission, whoever makes it. */
export interface Permission {
  decide(request: PermissionRequest): PermissionDecision | Promise<PermissionDecision>
}

const ALLOWED: PermissionDecision = { allowed: true }

export const allowAll: Permission = { decide: () => ALLOWED }
