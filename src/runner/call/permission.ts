import type { ToolCall } from "../../plugin/task-service.ts"

export interface PermissionRequest {
  readonly call: ToolCall
  readonly plugin: string
  readonly tool: string
  readonly input: unknown
}

export type PermissionDecision = { readonly allowed: true } | { readonly allowed: false; readonly reason: string }

/** Asked once for every call, at admission, whoever makes it. */
export interface Permission {
  decide(request: PermissionRequest): PermissionDecision | Promise<PermissionDecision>
}

const ALLOWED: PermissionDecision = { allowed: true }

export const allowAll: Permission = { decide: () => ALLOWED }
