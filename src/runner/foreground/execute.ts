import { toErrorMessage } from "../../base/error.ts"
import type {
  Answer,
  CheckedCall,
  ExecuteOptions,
  Execution,
  StopRequest,
  ToolCall,
} from "../../plugin/task-service.ts"
import { createTaskId, type TaskId } from "../../task/id.ts"
import type { AskingStep, TaskRecord } from "../../task/record.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import { admit, Caller, isPlaceKnown, requireOwnPlace, tellHooks } from "../admit/admission.ts"
import { requireOpen } from "../run/enter.ts"
import { isLeftBehind } from "../run/ownership.ts"
import { type Admitted, checkNames, toCallOrigin, toLifetime, toLimits, toPolicy } from "../admit/details.ts"
import { toStopCause, cancelTask } from "../stop/cancel.ts"
import { requireHopsLeft } from "../admit/child-limits.ts"
import type { HasActive, HasLog, HasStore, ExecuteScope, HasSpool, WaitScope } from "../run/scope.ts"
import type { RunnerScope } from "../admit/scope.ts"
import { TURN_PLUGIN } from "../tool/tool-source.ts"
import { beginRun } from "../execute/begin-run.ts"
import { acknowledgeTasks } from "../result/use-results.ts"
import { followOutput, followRun, type ReadOutput } from "../output/deliver-output.ts"
import { createTask } from "../start/start.ts"
import { stopRun } from "../run/stop-run.ts"
import { waitForEnd } from "../run/wait-for-end.ts"
import { promoteRun } from "./promote-run.ts"
import { toThresholdMs, toWaitMs } from "./threshold.ts"

/** Runs a call in the foreground, and promotes it at its threshold. The answer comes once, whatever happens. */
export function execute(scope: RunnerScope, asked: ToolCall, options: ExecuteOptions = {}): Execution {
  // `admit` checks it, before anything else reads it.
  const call = asked as CheckedCall
  const taskId = createTaskId()
  const { promise: answer, resolve, reject } = Promise.withResolvers<Answer>()
  let begun: ForegroundCall | undefined
  let admission: Promise<void> | undefined
  const caller = new Caller(options.onAsked)
  let isAdmitting = false
  let isLeft = false

  function begin(admitted: Admitted, hasRecord: boolean): void {
    requireOpen(scope, call)
    checkNames(scope.redactor, call)
    if (toPolicy(admitted.tool, admitted.input).mode === "always")
      requireHopsLeft(scope.admission, admitted.hops, admitted.tool)
    if (!admitted.approval) options.onAdmitted?.()
    if (scope.tools.hooks().length > 0) answer.then((it) => tellHooks(scope, admitted, it)).catch(() => {})
    if (hasRecord) {
      begun = executeRecorded(scope, admitted, taskId, { resolve, reject }, options)
      return
    }
    begun = executeUnrecorded(scope, admitted, taskId, resolve, options)
    admitted.settle?.()
  }
  async function beginLater(admitting: Admitted | Promise<Admitted>): Promise<void> {
    isAdmitting = true
    const admitted = await admitting
    isAdmitting = false
    if (isLeft) return admitted.settle?.()
    try {
      const decided = caller.asked ? await decide(admitted, caller.asked, options) : admitted
      if (caller.asked) caller.signal.throwIfAborted()
      const hasRecord = isRecorded(decided) || (await hasTask(scope, decided))
      // Checked before the place is looked up: the error names the place, and must not tell a secret.
      checkNames(scope.redactor, call)
      if (!hasRecord) await requireOwnPlace(scope, call)
      if (!caller.withdrawnFor || hasRecord) return begin(decided, hasRecord)
      resolve({ outcome: "cancelled", ...caller.withdrawnFor, survivors: [] })
      admitted.settle?.()
    } catch (error) {
      admitted.settle?.()
      throw error
    }
  }
  /** A hook or a preview may never answer. Like a run that ignores its stop, it is given up after the grace period. */
  function withdraw(cause: Required<StopRequest>): void {
    caller.withdraw(cause)
    const cancelTimer = scope.clock.schedule(scope.config.stopGraceSeconds * 1_000, () => {
      if (!isAdmitting) return
      isLeft = true
      resolve({ outcome: "cancelled", ...cause, survivors: [] })
    })
    void Promise.resolve(admission).then(cancelTimer)
  }
  try {
    const admitted = admit(scope, call, caller)
    if (admitted instanceof Promise || !isPlaceKnown(scope, call)) admission = beginLater(admitted).catch(reject)
    else begin(admitted, isRecorded(admitted))
  } catch (error) {
    reject(error)
  }
  return {
    taskId,
    answer,
    async promote() {
      // A call that a person is asked about has nothing that could move. Nobody knows when the answer comes.
      if (admission) await Promise.race([admission, caller.whenAsked()])
      return begun?.promote() ?? false
    },
    cancel(request = {}) {
      const cause = toStopCause(scope, request)
      if (!begun) withdraw(cause)
      void Promise.resolve(admission).then(() => begun?.cancel(cause))
    },
  }
}

/**
 * After a person was asked, `onDecided` may name another step that asks for the call. A task that waits in the inbox is
 * written only after that: otherwise a crash in between would make one call two.
 */
async function decide(admitted: Admitted, asked: Promise<void>, { onDecided }: ExecuteOptions): Promise<Admitted> {
  await asked
  const askedBy = await onDecided?.({ isAllowed: !admitted.approval })
  return askedBy ? { ...admitted, call: { ...admitted.call, askedBy } } : admitted
}

/** A call that needs an approval, always runs in the background, or has a key, has a record from the start. */
function isRecorded({ call, tool, input, approval }: Admitted): boolean {
  return approval !== undefined || call.idempotencyKey !== undefined || toPolicy(tool, input).mode === "always"
}

/** True if the asking step has a task from before a crash: that task gives the answer, and nothing is done twice. */
async function hasTask(scope: HasStore & HasActive, { call: { askedBy } }: Admitted): Promise<boolean> {
  return askedBy !== undefined && mayAskAgain(scope, askedBy) && (await scope.store.countTasks({ askedBy })) > 0
}

/** False for a turn under its first claim: it asks with each of its steps only once. */
function mayAskAgain(scope: HasActive, { taskId }: AskingStep): boolean {
  const asking = scope.active.get(taskId)
  return asking?.call.plugin !== TURN_PLUGIN || asking.standing.in !== "background" || asking.standing.fence > 1
}

/** A call that somebody waits for. */
interface ForegroundCall {
  promote(): Promise<boolean>
  cancel(cause: Required<StopRequest>): void
}

/** Runs a call without a record: nothing is written unless the call is promoted. */
function executeUnrecorded(
  scope: ExecuteScope,
  admitted: Admitted,
  taskId: TaskId,
  resolve: (answer: Answer) => void,
  { onOutput, onProgress, onStarted }: ExecuteOptions,
): ForegroundCall {
  const { call, plugin, tool, input } = admitted
  const thresholdMs = toThresholdMs(scope, admitted)
  const cancelThreshold = thresholdMs === null ? null : scope.clock.schedule(thresholdMs, () => void promote())
  const active = beginRun(scope, {
    taskId,
    run: 1,
    origin: toCallOrigin(admitted),
    above: admitted.above,
    call: { plugin, tool, input, lifetime: toLifetime(scope, call, tool), limits: toLimits(scope, call, tool, input) },
    slot: null,
    standing: {
      in: "foreground",
      answer(answer) {
        cancelThreshold?.()
        resolve(answer)
      },
      promote,
    },
  })
  if (onOutput) {
    active.listeners.onOutput = onOutput
    // The call may have printed something before anybody could listen.
    followRun(scope, active)
  }
  if (onStarted) active.listeners.onStarted = onStarted
  if (onProgress) {
    active.listeners.onProgress = onProgress
    // The call may have reported progress before anybody could listen.
    if (active.notes.progress) onProgress(active.notes.progress)
  }
  async function promote(): Promise<boolean> {
    if (toPolicy(tool, input).mode === "never") return false
    cancelThreshold?.()
    return promoteRun(scope, active, admitted)
  }
  return {
    promote,
    cancel(cause) {
      if (!isAskerHandedBack(scope, call)) void stopRun(scope, active, cause)
    },
  }
}

/** Runs a call as a task from the start. The answer is the task's end if that comes in time, otherwise the handle. */
function executeRecorded(
  scope: ExecuteScope,
  admitted: Admitted,
  taskId: TaskId,
  { resolve, reject }: Pick<PromiseWithResolvers<Answer>, "resolve" | "reject">,
  options: ExecuteOptions,
): ForegroundCall {
  const released = new AbortController()
  const waitMs = toWaitMs(scope, admitted)
  const created = createTask(scope, admitted, taskId)
  const answered = answerFromTask(scope, created, { ...options, waitMs, signal: released.signal })
  let isAnswered = false
  answered
    .finally(() => {
      isAnswered = true
    })
    .then(resolve, reject)
  return {
    async promote() {
      if (isAnswered || released.signal.aborted || toPolicy(admitted.tool, admitted.input).mode === "never")
        return false
      released.abort()
      return (await answered).outcome === "promoted"
    },
    cancel(cause) {
      // Others go on with the task, or will.
      const isLeft = (): boolean => admitted.above !== null && isLeftBehind(scope, admitted.above)
      if (isLeft()) return released.abort()
      created.then((task) => (isLeft() ? task : cancelTask(scope, task, cause))).catch(reject)
    },
  }
}

/** True at a shutdown that has left the turn behind the call to its next claim: the shutdown decides what the call becomes. */
function isAskerHandedBack({ active }: HasActive, { parentTask }: CheckedCall): boolean {
  return parentTask ? active.get(parentTask)?.control.isHandedBack === true : false
}

async function answerFromTask(
  scope: WaitScope & HasLog & HasSpool,
  created: Promise<TaskRecord>,
  { waitMs, signal, onOutput }: ExecuteOptions & { readonly waitMs: number | null; readonly signal: AbortSignal },
): Promise<Answer> {
  const beganAt = scope.clock.monotonic()
  const task = await created
  const read: ReadOutput = (offset, state) => scope.spool.read(task.id, task.run, { offset }, state)
  const isFar = () => scope.engine.outputs !== undefined && !scope.active.has(task.id)
  const follower = onOutput && waitMs !== 0 ? followOutput(scope, read, onOutput, isFar) : null
  const waiting = waitForEnd(scope, task.id, { signal, ...(waitMs !== null && { timeoutMs: waitMs }) })
  waiting.catch(() => follower?.stop())
  const found = (await waiting) ?? task
  const isComplete = isTerminal(found.status)
  await follower?.finish({ isComplete }).catch((error: unknown) => {
    scope.log.warn("output could not be passed on", { task: task.id, error: toErrorMessage(error) })
  })
  if (isComplete) await useUp(scope, found)
  return toAnswer(found, Math.round(scope.clock.monotonic() - beganAt))
}

/** The answer tells of the end, so the session is not told again once the turn that asked has kept the answer. */
async function useUp(scope: HasStore & HasLog, task: TaskRecord): Promise<void> {
  const { askedBy: claimant, session } = task
  await acknowledgeTasks(scope, [task], claimant ? { claimant, session } : undefined).catch((error: unknown) => {
    scope.log.warn("an answer could not be marked as used", { task: task.id, error: toErrorMessage(error) })
  })
}

function toAnswer(task: TaskRecord, afterMs: number): Answer {
  switch (task.status) {
    case "completed":
      return { outcome: "completed", patch: task.patch }
    case "failed":
      return { outcome: "failed", failure: task.failure, patch: task.patch, taskId: task.id }
    case "interrupted":
      return { outcome: "failed", failure: task.failure, patch: null, taskId: task.id }
    case "cancelled":
    case "timed_out":
      return {
        outcome: task.status,
        by: task.stop.by,
        reason: task.stop.reason,
        survivors: task.survivors,
        taskId: task.id,
      }
    default:
      return { outcome: "promoted", task, afterMs }
  }
}
