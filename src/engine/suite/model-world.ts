import { createTaskId, createWaitId, type TaskId } from "../../task/id.ts"
import type { LifecycleEvent } from "../../task/event.ts"
import type { LifecycleEventType } from "../../task/lifecycle.ts"
import type { Operation, RunReference } from "../../task/operation.ts"
import { COMPLETED, FAILED, FAILURE, sampleDetails, sampleWait, STARTED, WORKER } from "./samples.ts"
import type { Action } from "./store-model.ts"

/** Maps the numbers of the model to the ids of the store. Each plan has its own world: plans can share a store. */
export interface World {
  readonly leaseKey: string
  taskId(slot: number): TaskId
  /** The store's fence of the nth time that the lease was taken, or one that it never gave out. */
  leaseFence(nth: number): number
  /** Remembers the fence if the answer is the lease of this plan. */
  noticeFence(answer: unknown): void
}

export function createWorld(): World {
  const taskIds = new Map<number, TaskId>()
  const fences: number[] = []
  const leaseKey = `model/${createTaskId()}`
  return {
    leaseKey,
    taskId(slot) {
      const id = taskIds.get(slot) ?? createTaskId()
      taskIds.set(slot, id)
      return id
    },
    leaseFence: (nth) => fences[nth - 1] ?? -1,
    noticeFence(answer) {
      if (!isLease(answer) || answer.key !== leaseKey || fences.includes(answer.fence)) return
      const last = fences.at(-1) ?? 0
      if (answer.fence <= last) throw new Error(`A fence went back from ${last} to ${answer.fence}.`)
      fences.push(answer.fence)
    },
  }
}

function isLease(answer: unknown): answer is { key: string; fence: number } {
  return typeof answer === "object" && answer !== null && "key" in answer && "fence" in answer && "holder" in answer
}

const LONG_MS = 600_000

export function toOperation(world: World, action: Action): Operation {
  switch (action.do) {
    case "create": {
      const details = sampleDetails({ id: world.taskId(action.slot), kind: action.isTurn ? "turn" : "tool" })
      const entry = action.as === "queued" ? ({ as: "queued" } as const) : ({ as: "running", worker: WORKER } as const)
      return { op: "task.create", details, entry }
    }
    case "apply":
      return { op: "task.apply", run: toReference(world, action), event: toEvent(action.type) }
    case "note":
      return { op: "task.note", run: toReference(world, action), facts: [{ type: "task.retrieved" }] }
    case "step": {
      const step = { run: toReference(world, action), key: action.key }
      return action.isFinish
        ? { op: "step.finish", ...step, result: null }
        : { op: "step.start", ...step, onCrash: "fail" }
    }
    case "begin":
      return { op: "task.begin_run", taskId: world.taskId(action.slot), afterRun: action.run, reason: "retry" }
    case "notice": {
      const keys = [{ taskId: world.taskId(action.slot), run: action.run, kind: "ended" } as const]
      const by = { taskId: world.taskId(action.by.slot), run: action.by.run, key: "use" }
      return { op: action.how === "claim" ? "notice.claim" : "notice.consume", keys, by }
    }
    case "lease": {
      const { holder } = action
      const key = world.leaseKey
      if (action.how === "take") return { op: "lease.take", key, holder, ttlMs: LONG_MS, data: {} }
      const fence = world.leaseFence(action.fence)
      return { op: action.how === "renew" ? "lease.renew" : "lease.release", key, holder, fence }
    }
  }
}

function toReference(world: World, action: { slot: number; run: number; fence: number | undefined }): RunReference {
  const { slot, run, fence } = action
  return { taskId: world.taskId(slot), run, ...(fence !== undefined && { fence }) }
}

function toEvent(type: LifecycleEventType): LifecycleEvent {
  const stop = { by: "person", reason: "enough", survivors: [], late: null } as const
  switch (type) {
    case "task.started":
      return STARTED
    case "task.completed":
      return COMPLETED
    case "task.failed":
      return FAILED
    case "task.waited":
      return { type, wait: sampleWait({ reason: "tasks" }) }
    case "task.answered":
      return { type, waitId: createWaitId() }
    case "task.released":
      return { type, reason: "shutdown" }
    case "task.stop_requested":
      return { type, by: "person", reason: "enough" }
    case "task.interrupted":
      return { type, by: "lost_worker", failure: FAILURE }
    case "task.cancelled":
    case "task.timed_out":
      return { type, ...stop }
  }
}
