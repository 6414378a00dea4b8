/** Who or what ended a run. `lifetime`: the turn or session it belonged to ended. */
export const STOPPERS = [
  "person",
  "model",
  "deadline",
  "budget",
  "limit",
  "lifetime",
  "shutdown",
  "lost_worker",
] as const
export type Stopper = (typeof STOPPERS)[number]

/** Who can ask for a stop. The others are found out by the runtime itself. */
export const REQUESTERS = ["person", "model", "budget", "limit", "lifetime"] as const satisfies readonly Stopper[]
export type Requester = (typeof REQUESTERS)[number]

/** A stop that was accepted. Whether the run ends `cancelled` or `timed_out` follows from who asked. */
export interface Stop {
  readonly by: Stopper
  readonly reason: string
  readonly requestedAt: number
}

export interface Survivor {
  readonly pid: number
  readonly command: string
}

/** What was still alive when the stop's own deadline was over; `unknown` when nobody could look. */
export type Survivors = readonly Survivor[] | "unknown"

export function toStopEvent(by: Stopper): "task.cancelled" | "task.timed_out" {
  return by === "deadline" ? "task.timed_out" : "task.cancelled"
}
