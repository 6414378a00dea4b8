import type { PermissionDecision, PermissionRequest } from "../../plugin/permission-request.ts"

/** What a person has to say yes to before the call may run. */
export type Approval = Extract<PermissionDecision, { allowed: "ask" }>

/** Asked once for every call, at admission, whoever makes it. */
export interface Permission {
  decide(request: PermissionRequest): PermissionDecision | Promise<PermissionDecision>
}

const ALLOWED: PermissionDecision = { allowed: true }

export const allowAll: Permission = { decide: () => ALLOWED }
