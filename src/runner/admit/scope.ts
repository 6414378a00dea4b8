import type { ExecuteScope, HasConfig, HasRedactor, HasWorker, HasWritten } from "../run/scope.ts"
import type { FamilyLock } from "./child-limits.ts"
import type { Permission } from "./permission.ts"

/** Makes the record of an admitted call. */
export interface DetailsScope extends HasConfig, HasRedactor, HasWorker, HasWritten {}

/** Decides whether a call may run. */
export type AdmitScope = Pick<RunnerScope, "admission" | "active" | "config" | "ports" | "store" | "tools">

/** Takes a call from its admission to its result: every part of a runner. */
export interface RunnerScope extends ExecuteScope {
  /** The parts that decide whether a call may run, beside the call itself. */
  readonly admission: {
    readonly permission: Permission
    readonly families: FamilyLock
    /** How many reports may follow from one another by the tasks that they start. */
    readonly maxHops: number
  }
}
