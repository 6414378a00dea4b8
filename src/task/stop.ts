import type { TaskId } from "./id.ts"

/**
 * The cause of a run's end. `parent`: a task above it was stopped or failed. `lifetime`: the turn or session it belonged
 * to ended.
 */
export const STOPPERS = [
  "person",
  "model",
  "parent",
  "deadline",
  "budget",
  "limit",
  "lifetime",
  "shutdown",
  "lost_worker",
] as const
export type Stopper = (typeof STOPPERS)[number]

/** Callers that can ask for a stop. The runtime itself detects the other causes. */
export const REQUESTERS = [
  "person",
  "model",
  "parent",
  "budget",
  "limit",
  "lifetime",
] as const satisfies readonly Stopper[]
export type Requester = (typeof REQUESTERS)[number]

/** A stop that was accepted. Whether the run ends `cancelled` or `timed_out` follows from who asked. */
export interface Stop {
  readonly by: Stopper
  readonly reason: string
  readonly requestedAt: number
  /** The stopped or failed task above it, if `by` is `parent` and that task has a record. */
  readonly parent?: TaskId
}

export interface Survivor {
  readonly pid: number
  readonly command: string
}

/** Processes still alive after the stop's own deadline; `unknown` if they could not be inspected. */
export type Survivors = readonly Survivor[] | "unknown"

export function toStopEvent(by: Stopper): "task.cancelled" | "task.timed_out" {
  return by === "deadline" ? "task.timed_out" : "task.cancelled"
}
