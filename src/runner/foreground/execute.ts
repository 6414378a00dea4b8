import { toErrorMessage } from "../../base/error.ts"
import type { Answer, ExecuteOptions, Execution, ToolCall } from "../../plugin/task-service.ts"
import { createTaskId } from "../../task/id.ts"
import type { AskingStep } from "../../task/record.ts"
import { type Admitted, admit, toPendingCall } from "../admit/admission.ts"
import { toStopCause } from "../stop/cancel.ts"
import { checkNames } from "../admit/call-check.ts"
import { toPolicy } from "../admit/details.ts"
import { requireOpen } from "../run/enter.ts"
import { requireHopsLeft } from "../limits/hops.ts"
import { type ForegroundCall, executeRecorded, executeUnrecorded } from "./foreground-call.ts"
import type { HasActive, HasLog, HasStore, HasTools } from "../run/scope.ts"
import type { RunnerScope } from "../admit/scope.ts"
import { TURN_PLUGIN } from "../tool/runtime-tools.ts"
import { createWithdrawal } from "../admit/withdrawal.ts"

/** Runs a call in the foreground, and lets go of it at its threshold. The answer comes once, whatever happens. */
export function execute(scope: RunnerScope, call: ToolCall, options: ExecuteOptions = {}): Execution {
  const taskId = createTaskId()
  const { promise: answer, resolve, reject } = Promise.withResolvers<Answer>()
  let begun: ForegroundCall | undefined
  let admission: Promise<void> | undefined
  const withdrawal = createWithdrawal()
  let asked: Promise<void> | undefined

  function onAsked(): Promise<void> {
    return (asked ??= options.onAsked?.() ?? Promise.resolve())
  }
  function begin(admitted: Admitted, hasRecord: boolean): void {
    requireOpen(scope, call)
    checkNames(scope.redactor, call)
    if (toPolicy(admitted.tool, admitted.input).mode === "always") requireHopsLeft(scope.admission, admitted)
    if (!admitted.approval) options.onAdmitted?.()
    if (scope.tools.hooks().length > 0) answer.then((it) => tellHooks(scope, admitted, it)).catch(() => {})
    if (hasRecord) {
      begun = executeRecorded(scope, admitted, taskId, { resolve, reject }, options)
      return
    }
    begun = executeUnrecorded(scope, admitted, taskId, resolve, options)
    admitted.settle?.()
  }
  async function beginLater(admitting: Promise<Admitted>): Promise<void> {
    const admitted = await admitting
    try {
      const decided = asked ? await decide(admitted, asked, options) : admitted
      if (asked) withdrawal.signal.throwIfAborted()
      const hasRecord = isRecorded(decided) || (await hasTask(scope, decided))
      if (!withdrawal.cause || hasRecord) return begin(decided, hasRecord)
      resolve({ outcome: "cancelled", ...withdrawal.cause, survivors: [] })
      admitted.settle?.()
    } catch (error) {
      admitted.settle?.()
      throw error
    }
  }
  try {
    const admitted = admit(scope, call, withdrawal, onAsked)
    if (admitted instanceof Promise) admission = beginLater(admitted).catch(reject)
    else begin(admitted, isRecorded(admitted))
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
      const cause = toStopCause(scope, request)
      if (!begun) withdrawal.withdraw(cause)
      void Promise.resolve(admission).then(() => begun?.cancel(cause))
    },
  }
}

/**
 * After a person was asked, another step may ask for the call. A task that waits in the inbox is written only
 * after that is decided: otherwise a crash in between would make one call two.
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

/** A step asks again after a crash: its task is the answer, and nothing is done twice. */
async function hasTask(scope: HasStore & HasActive, { call: { askedBy } }: Admitted): Promise<boolean> {
  return askedBy !== undefined && mayAskAgain(scope, askedBy) && (await scope.store.countTasks({ askedBy })) > 0
}

/** A turn that nobody had before asks with each of its steps once. */
function mayAskAgain(scope: HasActive, { taskId }: AskingStep): boolean {
  const asking = scope.active.get(taskId)
  return asking?.plugin !== TURN_PLUGIN || asking.standing.in !== "background" || asking.standing.fence > 1
}

/** A failing hook changes nothing about the answer. */
async function tellHooks(scope: HasLog & HasTools, { call, plugin, tool }: Admitted, answer: Answer): Promise<void> {
  for (const hook of scope.tools.hooks()) {
    try {
      await hook.afterToolCall?.(toPendingCall(call, plugin, tool), answer)
    } catch (error) {
      scope.log.warn("a hook failed after a call", { tool: tool.name, error: toErrorMessage(error) })
    }
  }
}
