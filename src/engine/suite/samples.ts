import type { Engine } from "../../task/engine.ts"
import type { LifecycleEvent, TaskFailure } from "../../task/event.ts"
import type { GroupDetails } from "../../task/group.ts"
import {
  createGroupId,
  createSessionId,
  createTaskId,
  createWaitId,
  createWorkerId,
  DEFAULT_WORKSPACE,
  type SessionId,
  type TaskId,
  type WorkerId,
} from "../../task/id.ts"
import type { NoticeKey } from "../../task/notice.ts"
import type { TaskEntry } from "../../task/operation.ts"
import type { Patch } from "../../task/patch.ts"
import { type AskingStep, PLAIN_DETAILS, type TaskDetails, type TaskRecord } from "../../task/record.ts"
import type { Wait } from "../../task/wait.ts"

export const WORKER: WorkerId = createWorkerId()

export const PATCH: Patch = {
  digest: ["done"],
  facts: { lines: 3 },
  artifacts: [],
  nextSteps: ["rest"],
  payload: { text: "hello" },
}

export const FAILURE: TaskFailure = { code: "broken", message: "It broke.", details: { exitCode: 1 } }

export function sampleDetails(changes: Partial<TaskDetails> = {}): TaskDetails {
  return {
    ...PLAIN_DETAILS,
    id: createTaskId(),
    workspace: DEFAULT_WORKSPACE,
    kind: "tool",
    plugin: "shell",
    tool: "run_command",
    title: "npm test",
    input: { command: "npm test" },
    metadata: { owner: "suite" },
    limits: { ...PLAIN_DETAILS.limits, timeoutMs: 300_000 },
    ...changes,
  }
}

export function sampleWait(changes: Partial<Wait> = {}): Wait {
  return {
    id: createWaitId(),
    reason: "person",
    question: { text: "Go on?" },
    expiresAt: null,
    onExpiry: null,
    ...changes,
  }
}

export function sampleGroup(changes: Partial<GroupDetails> = {}): GroupDetails {
  return {
    id: createGroupId(),
    workspace: DEFAULT_WORKSPACE,
    session: null,
    name: "tests",
    join: "all",
    failFast: false,
    report: "combined",
    merge: "append",
    ...changes,
  }
}

export const QUEUED: TaskEntry = { as: "queued" }
export const RUNNING: TaskEntry = { as: "running", worker: WORKER }
export const COMPLETED: LifecycleEvent = { type: "task.completed", patch: PATCH }
export const FAILED: LifecycleEvent = { type: "task.failed", failure: FAILURE, patch: null }
export const STARTED: LifecycleEvent = { type: "task.started", worker: WORKER }
export const CANCELLED: LifecycleEvent = {
  type: "task.cancelled",
  by: "person",
  reason: "not needed",
  survivors: [],
  late: null,
}

export async function createTask(
  { store }: Engine,
  entry: TaskEntry = QUEUED,
  changes: Partial<TaskDetails> = {},
): Promise<TaskRecord> {
  const [{ task }] = await store.commit([{ op: "task.create", details: sampleDetails(changes), entry }])
  return checkTimes(task)
}

/**
 * Times and durations are whole milliseconds, whatever column type keeps them. Throws by itself, because it is also
 * called outside a test runner.
 */
function checkTimes(task: TaskRecord): TaskRecord {
  const { createdAt, queuedAt, startedAt, ranMs, lastSequence, limits } = task
  const state = [
    "endedAt" in task ? task.endedAt : null,
    "availableAt" in task ? task.availableAt : null,
    "stop" in task ? task.stop.requestedAt : null,
  ]
  for (const value of [createdAt, queuedAt, startedAt, ranMs, lastSequence, ...Object.values(limits), ...state]) {
    if (value !== null && !Number.isSafeInteger(value)) throw new Error(`${value} is no whole number of milliseconds.`)
  }
  return task
}

/** A step of a turn, which may claim results. */
export async function createClaimant(engine: Engine): Promise<AskingStep> {
  const { id } = await createTask(engine, RUNNING, { kind: "turn" })
  return { taskId: id, run: 1, key: "step-1" }
}

/** Applies events one after the other to the task's current run, each under its current fence. */
export async function applyEvents({ store }: Engine, id: TaskId, ...events: LifecycleEvent[]): Promise<TaskRecord> {
  let task = await store.task(id)
  for (const event of events) {
    if (!task) break
    const run = { taskId: id, run: task.run, fence: task.fence }
    ;[task] = await store.commit([{ op: "task.apply", run, event }])
  }
  if (!task) throw new Error(`There is no task ${id}.`)
  return checkTimes(task)
}

export async function createEndedTask(engine: Engine, changes: Partial<TaskDetails> = {}): Promise<TaskRecord> {
  const { id } = await createTask(engine, RUNNING, changes)
  return applyEvents(engine, id, COMPLETED)
}

export async function createSession({ store }: Engine): Promise<SessionId> {
  const id = createSessionId()
  await store.commit([{ op: "session.create", id, workspace: DEFAULT_WORKSPACE, data: { agent: "suite" } }])
  return id
}

export function toEndedNotice(task: Pick<TaskRecord, "id" | "run">): NoticeKey {
  return { taskId: task.id, run: task.run, kind: "ended" }
}
