import { MeanwhileError } from "../../base/error.ts"
import { kindOf } from "../../plugin/tool.ts"
import type { ActiveRun } from "../run/active-run.ts"
import { detachRun } from "../run/ownership.ts"
import { giveUpAfterGrace, stopRun } from "../run/stop-run.ts"
import { storeOutputSoFar } from "../output/deliver-output.ts"
import type { HasEngine, StopScope } from "../run/scope.ts"
import { describeShutdown } from "../worker/worker-identity.ts"

/**
 * Hands a run off at a shutdown: a process that outlives Meanwhile goes on, an agent goes back to the queue, the rest
 * is stopped.
 */
export async function handOff(scope: StopScope & HasEngine, active: ActiveRun): Promise<void> {
  if (active.control.isHandedBack) return
  if (outlivesRuntime(active)) {
    await storeOutputSoFar(scope, active)
    return detachRun(active)
  }
  if (active.standing.in === "background" && kindOf(active.call.tool) !== "tool") {
    active.control.isHandedBack = true
    active.control.abort.abort(new MeanwhileError("closed", "Meanwhile is shutting down."))
    active.control.processAbort.abort()
    giveUpAfterGrace(scope, active)
    return
  }
  await stopRun(scope, active, { by: "shutdown", reason: describeShutdown(scope) })
}

export function outlivesRuntime(active: ActiveRun): boolean {
  return (
    active.call.lifetime === "forever" && active.standing.in === "background" && active.call.tool.reattaches === true
  )
}
