import type {
  ExecuteScope,
  HasActive,
  HasConfig,
  HasPorts,
  HasRedactor,
  HasStore,
  HasTools,
  HasWorker,
  HasWritten,
} from "../run/scope.ts"
import type { Admission } from "./permission.ts"

export interface HasAdmission {
  readonly admission: Admission
}

/** Decides whether a call may run. */
export interface AdmitScope extends HasAdmission, HasActive, HasConfig, HasPorts, HasStore, HasTools {}

/** Makes the record of an admitted call. */
export interface DetailsScope extends HasConfig, HasRedactor, HasWorker, HasWritten {}

/** Takes a call from its admission to its result: every part of a runner. */
export interface RunnerScope extends ExecuteScope, HasAdmission {}
