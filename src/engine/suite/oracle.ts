import type { LifecycleEventType, RunStatus } from "../../task/lifecycle.ts"

/**
 * The life of a run as the tests expect it, written event by event, while the product's table goes status by status.
 * The tests judge the product by this table. It imports only types, so that a wrong line in the product cannot make
 * both agree.
 */
const EXPECTED: Readonly<Record<LifecycleEventType, { readonly from: readonly RunStatus[]; readonly to: RunStatus }>> =
  {
    "task.started": { from: ["queued"], to: "running" },
    "task.waited": { from: ["running"], to: "waiting" },
    "task.answered": { from: ["waiting"], to: "queued" },
    "task.released": { from: ["running"], to: "queued" },
    "task.stop_requested": { from: ["running"], to: "stopping" },
    "task.completed": { from: ["running"], to: "completed" },
    "task.failed": { from: ["running"], to: "failed" },
    "task.interrupted": { from: ["queued", "running", "waiting"], to: "interrupted" },
    "task.cancelled": { from: ["queued", "waiting", "stopping"], to: "cancelled" },
    "task.timed_out": { from: ["queued", "waiting", "stopping"], to: "timed_out" },
  }

export const EXPECTED_LIVE: readonly RunStatus[] = ["queued", "running", "waiting", "stopping"]

const ENDED: ReadonlySet<unknown> = new Set(["completed", "failed", "cancelled", "timed_out", "interrupted"])

export const EXPECTED_EVENT_TYPES: readonly LifecycleEventType[] = Object.keys(EXPECTED).filter(isLifecycleEventType)

export function isLifecycleEventType(type: string): type is LifecycleEventType {
  return Object.hasOwn(EXPECTED, type)
}

/** Undefined: the event is refused in this status. */
export function expectStatus(before: RunStatus, type: LifecycleEventType): RunStatus | undefined {
  const { from, to } = EXPECTED[type]
  return from.includes(before) ? to : undefined
}

export function isLive(status: RunStatus): boolean {
  return EXPECTED_LIVE.includes(status)
}

export function hasEnded(status: unknown): boolean {
  return ENDED.has(status)
}
