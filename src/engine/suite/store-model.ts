import type { ErrorCode } from "../../base/error.ts"
import type { LifecycleEventType, RunStatus } from "../../task/lifecycle.ts"
import type { NoticeState } from "../../task/notice.ts"
import { expectStatus, isLive } from "./oracle.ts"

/** The beliefs of the tests about one task: the rules in their shortest form, without time, text or SQL. */
export interface TaskModel {
  readonly isTurn: boolean
  run: number
  status: RunStatus
  fence: number
  lastSequence: number
  /** The notice of each run that ended. */
  readonly notices: Map<number, NoticeState>
  /** The task and run whose step claimed the notice of a run. */
  readonly claims: Map<number, { readonly slot: number; readonly run: number }>
  /** How each run before the current one ended. */
  readonly ended: Map<number, RunStatus>
  readonly steps: Map<string, "started" | "finished">
}

export interface LeaseModel {
  holder: string | undefined
  /** How many fences were given out. */
  taken: number
}

export interface StoreModel {
  readonly tasks: Map<number, TaskModel>
  readonly lease: LeaseModel
}

/** The fence that a write carries: none, the one that was current when the write was made up, or an older one. */
export type FenceChoice = "none" | "current" | "stale"

/** One operation in the terms of the model: tasks are slots, and what depends on the past was looked up before. */
export type Action =
  | { readonly do: "create"; readonly slot: number; readonly as: "queued" | "running"; readonly isTurn: boolean }
  | {
      readonly do: "apply"
      readonly slot: number
      readonly run: number
      readonly fence: number | undefined
      readonly type: LifecycleEventType
    }
  | { readonly do: "note"; readonly slot: number; readonly run: number; readonly fence: number | undefined }
  | {
      readonly do: "step"
      readonly slot: number
      readonly run: number
      readonly fence: number | undefined
      readonly key: string
      readonly isFinish: boolean
    }
  | { readonly do: "begin"; readonly slot: number; readonly run: number }
  | {
      readonly do: "notice"
      readonly how: "claim" | "consume"
      readonly slot: number
      readonly run: number
      readonly by: { readonly slot: number; readonly run: number }
    }
  | {
      readonly do: "lease"
      readonly how: "take" | "renew" | "release"
      readonly holder: string
      readonly fence: number
    }

export function createModel(): StoreModel {
  return { tasks: new Map(), lease: { holder: undefined, taken: 0 } }
}

export function copyModel(model: StoreModel): StoreModel {
  return structuredClone(model)
}

/** Changes the model as the store must change, and answers with the refusal that the store must give. */
export function performOnModel(model: StoreModel, action: Action): ErrorCode | undefined {
  if (action.do === "lease") return performLease(model.lease, action)
  const task = model.tasks.get(action.slot)
  if (action.do === "create") return performCreate(model, action, task)
  if (action.do === "notice") return performNotice(model, action, task)
  if (!task) return "not_found"
  switch (action.do) {
    case "apply":
      return performApply(task, action)
    case "note":
      return performNote(task, action)
    case "step":
      return performStep(task, action)
    case "begin":
      return performBegin(task, action.run)
  }
}

type ActionOf<Name extends Action["do"]> = Extract<Action, { do: Name }>

function performCreate(model: StoreModel, action: ActionOf<"create">, known: TaskModel | undefined) {
  if (known) return "invalid_input"
  const isRunning = action.as === "running"
  model.tasks.set(action.slot, {
    isTurn: action.isTurn,
    run: 1,
    status: action.as,
    fence: isRunning ? 1 : 0,
    lastSequence: isRunning ? 2 : 1,
    notices: new Map(),
    claims: new Map(),
    ended: new Map(),
    steps: new Map(),
  })
  return undefined
}

function performApply(task: TaskModel, { run, fence, type }: ActionOf<"apply">): ErrorCode | undefined {
  if (task.run !== run) return "wrong_state"
  if (fence !== undefined && fence !== task.fence) return "stale_claim"
  const next = expectStatus(task.status, type)
  if (!next) return "wrong_state"
  task.status = next
  task.lastSequence++
  if (type === "task.started") task.fence++
  if (!isLive(next) && !task.isTurn) task.notices.set(run, "pending")
  return undefined
}

function isClaimed(task: TaskModel, run: number, fence: number): boolean {
  return task.run === run && task.fence === fence && (task.status === "running" || task.status === "stopping")
}

function performNote(task: TaskModel, { run, fence }: ActionOf<"note">): ErrorCode | undefined {
  if (fence !== undefined && !isClaimed(task, run, fence)) return "stale_claim"
  if (run > task.run) return "not_found"
  task.lastSequence++
  return undefined
}

function performStep(task: TaskModel, { run, fence, key, isFinish }: ActionOf<"step">): ErrorCode | undefined {
  if (fence !== undefined && !isClaimed(task, run, fence)) return "stale_claim"
  if (task.run !== run || !isLive(task.status)) return "wrong_state"
  const known = task.steps.get(key)
  if (known === "finished" || (known && !isFinish)) return undefined
  task.steps.set(key, isFinish ? "finished" : "started")
  task.lastSequence++
  return undefined
}

function performBegin(task: TaskModel, run: number): ErrorCode | undefined {
  if (task.run !== run || isLive(task.status)) return "wrong_state"
  task.ended.set(run, task.status)
  if (task.notices.get(run) === "pending" || task.notices.get(run) === "claimed") task.notices.set(run, "superseded")
  task.run++
  task.status = "queued"
  task.lastSequence++
  task.steps.clear()
  return undefined
}

/** A claim or an acknowledgement of a notice that is not free is not refused: it gets nothing. */
function performNotice(model: StoreModel, action: ActionOf<"notice">, task: TaskModel | undefined): undefined {
  const state = task?.notices.get(action.run)
  if (!task || (state !== "pending" && state !== "claimed")) return
  const claim = task.claims.get(action.run)
  const isOwn = claim?.slot === action.by.slot && claim.run === action.by.run
  if (state === "claimed" && claim && !isOwn && isHeldBy(model, claim)) return
  task.notices.set(action.run, action.how === "claim" ? "claimed" : "consumed")
  task.claims.set(action.run, action.by)
}

/** A claim holds while the run whose step made it lives. */
function isHeldBy(model: StoreModel, { slot, run }: { slot: number; run: number }): boolean {
  const task = model.tasks.get(slot)
  return task !== undefined && task.run === run && isLive(task.status)
}

function performLease(lease: LeaseModel, { how, holder, fence }: ActionOf<"lease">): ErrorCode | undefined {
  if (how === "take") {
    if (lease.holder !== undefined && lease.holder !== holder) return "lease_held"
    if (lease.holder === undefined) lease.taken++
    lease.holder = holder
    return undefined
  }
  if (lease.holder !== holder || lease.taken !== fence) return "stale_claim"
  if (how === "release") lease.holder = undefined
  return undefined
}
