import { MeanwhileError } from "../base/error.ts"
import type { Answer, Execution, ToolCall } from "../plugin/task-service.ts"
import type { BackgroundPolicy } from "../plugin/tool.ts"
import { createTaskId, DEFAULT_WORKSPACE, type TaskId } from "../task/id.ts"
import type { TaskRecord } from "../task/record.ts"
import { type Admitted, admit } from "./admission.ts"
import { beginRun } from "./begin-run.ts"
import { toLimits, toPolicy } from "./details.ts"
import { promoteRun } from "./promote-run.ts"
import type { RunnerScope } from "./scope.ts"
import { createTask } from "./start.ts"
import { type StopCause, stopRun } from "./stop-run.ts"
import { waitForEnd } from "./wait-for-end.ts"

/** Runs a call in the foreground, and lets go of it at its threshold. The answer comes once, whatever happens. */
export function execute(scope: RunnerScope, call: ToolCall): Execution {
  const taskId = createTaskId()
  const { promise: answer, resolve, reject } = Promise.withResolvers<Answer>()
  let begun: Begun | undefined
  let admission: Promise<void> | undefined

  function proceed(admitted: Admitted): void {
    begun = isRecorded(admitted)
      ? beginRecorded(scope, admitted, taskId, resolve, reject)
      : beginUnrecorded(scope, admitted, taskId, resolve)
  }
  try {
    const admitted = admit(scope, call)
    if (admitted instanceof Promise) admission = admitted.then(proceed).catch(reject)
    else proceed(admitted)
  } catch (error) {
    reject(error)
  }
  return {
    taskId,
    answer,
    async promote() {
      await admission
      return begun?.promote() ?? false
    },
    cancel(request = {}) {
      const cause = { by: request.by ?? "person", reason: request.reason ?? "it was asked to stop" } as const
      void Promise.resolve(admission).then(() => begun?.cancel(cause))
    },
  }
}

interface Begun {
  promote(): Promise<boolean>
  cancel(cause: StopCause): void
}

/** What always runs in the background, and what must be recognised when it is asked for again, has a record from the start. */
function isRecorded({ call, tool, input }: Admitted): boolean {
  return call.idempotencyKey !== undefined || toPolicy(tool, input).mode === "always"
}

function beginUnrecorded(
  scope: RunnerScope,
  admitted: Admitted,
  taskId: TaskId,
  resolve: (answer: Answer) => void,
): Begun {
  const { call, plugin, tool, input } = admitted
  const thresholdMs = toThresholdMs(scope, toPolicy(tool, input))
  if (thresholdMs !== null) requireLongerThan(thresholdMs, call)
  const cancelThreshold = thresholdMs === null ? null : scope.clock.schedule(thresholdMs, () => void promote())
  const active = beginRun(scope, {
    taskId,
    run: 1,
    workspace: call.workspace ?? DEFAULT_WORKSPACE,
    session: call.session ?? null,
    plugin,
    tool,
    input,
    lifetime: call.lifetime ?? "runtime",
    limits: toLimits(scope, call, tool, input),
    slot: null,
    standing: {
      in: "foreground",
      answer(answer) {
        cancelThreshold?.()
        resolve(answer)
      },
    },
  })
  async function promote(): Promise<boolean> {
    if (thresholdMs === null) return false
    cancelThreshold?.()
    return promoteRun(scope, active, admitted)
  }
  return { promote, cancel: (cause) => void stopRun(scope, active, cause) }
}

/** The same call as a task: the answer is its end when it comes in time, else the handle. */
function beginRecorded(
  scope: RunnerScope,
  admitted: Admitted,
  taskId: TaskId,
  resolve: (answer: Answer) => void,
  reject: (error: unknown) => void,
): Begun {
  const letGo = new AbortController()
  const created = createTask(scope, admitted, taskId)
  answerFromTask(scope, admitted, created, letGo.signal).then(resolve, reject)
  return {
    async promote() {
      letGo.abort()
      return true
    },
    cancel: (cause) =>
      void created.then(({ id }) => scope.service.cancel(id, cause, admitted.call.workspace)).catch(reject),
  }
}

async function answerFromTask(
  scope: RunnerScope,
  { tool, input }: Admitted,
  created: Promise<TaskRecord>,
  signal: AbortSignal,
): Promise<Answer> {
  const beganAt = scope.clock.monotonic()
  const task = await created
  const policy = toPolicy(tool, input)
  const timeoutMs = policy.mode === "always" ? 0 : toThresholdMs(scope, policy)
  const ended = await waitForEnd(scope, task.id, { signal, ...(timeoutMs !== null && { timeoutMs }) })
  return toAnswer(ended ?? task, scope.clock.monotonic() - beganAt)
}

function toAnswer(task: TaskRecord, afterMs: number): Answer {
  switch (task.status) {
    case "completed":
      return { outcome: "completed", patch: task.patch }
    case "failed":
      return { outcome: "failed", failure: task.failure, patch: task.patch }
    case "interrupted":
      return { outcome: "failed", failure: task.failure, patch: null }
    case "cancelled":
    case "timed_out":
      return { outcome: task.status, by: task.stop.by, reason: task.stop.reason, survivors: task.survivors }
    default:
      return { outcome: "promoted", task, afterMs }
  }
}

/** Null: it is never promoted. */
function toThresholdMs(scope: RunnerScope, policy: BackgroundPolicy): number | null {
  return policy.mode === "after" ? (policy.ms ?? scope.config.backgroundThresholdSeconds * 1_000) : null
}

function requireLongerThan(thresholdMs: number, call: ToolCall): void {
  if (call.timeoutMs === undefined || call.timeoutMs > thresholdMs) return
  throw new MeanwhileError(
    "invalid_input",
    `The time limit of ${call.timeoutMs} ms must exceed the ${thresholdMs} ms after which ${call.tool} moves to the background. Raise it, or start the call in the background.`,
    { field: "timeoutMs", thresholdMs },
  )
}
