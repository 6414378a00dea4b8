import type { PermissionDecision, PermissionRequest } from "../../plugin/permission-request.ts"

/** The question that a person must answer with yes before the call may run. */
export type Approval = Extract<PermissionDecision, { allowed: "ask" }>

/** Asked once for every call, at admission. */
export interface Permission {
  decide(request: PermissionRequest): PermissionDecision | Promise<PermissionDecision>
}

export const allowAll: Permission = { decide: () => ({ allowed: true }) }
