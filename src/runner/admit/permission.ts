import type { PermissionDecision, PermissionRequest } from "../../plugin/permission-request.ts"
import type { FamilyLock } from "./child-limits.ts"

/** The question that a person must answer with yes before the call may run. */
export type Approval = Extract<PermissionDecision, { allowed: "ask" }>

/** Asked once for every call, at admission. */
export interface Permission {
  decide(request: PermissionRequest): PermissionDecision | Promise<PermissionDecision>
}

/** The parts that decide whether a call may run, beside the call itself. */
export interface Admission {
  readonly permission: Permission
  readonly families: FamilyLock
  /** How many reports may follow from one another by the tasks that they start. */
  readonly maxHops: number
}

const ALLOWED: PermissionDecision = { allowed: true }

export const allowAll: Permission = { decide: () => ALLOWED }
