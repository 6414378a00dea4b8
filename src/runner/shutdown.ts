import type { ActiveRun } from "./active-run.ts"
import { detachRun } from "./ownership.ts"
import type { RunnerScope } from "./scope.ts"
import { stopRun } from "./stop-run.ts"

export interface ShutdownOptions {
  /** How long what runs may go on to its own end. Default 0. */
  readonly drainMs?: number
  /** Ends the drain early, for example at a second Ctrl+C. */
  readonly signal?: AbortSignal
}

/**
 * Lets work end by itself for a while, then stops it. Processes that outlive Meanwhile are let go; agents and workflows
 * go back to the queue. Returns whether something is left that the next start must take over.
 */
export async function stopEverything(
  scope: RunnerScope,
  options: ShutdownOptions,
): Promise<{ isLeftRunning: boolean }> {
  const outliving = [...scope.active.values()].filter(outlivesRuntime)
  const others = [...scope.active.values()].filter((active) => !outlivesRuntime(active))
  await drain(scope, others, options)
  await Promise.all(others.map((active) => endRun(scope, active)))
  for (const active of outliving) detachRun(active)
  await Promise.all([...outliving, ...others].map((active) => active.ended.promise))
  return { isLeftRunning: outliving.length > 0 }
}

async function endRun(scope: RunnerScope, active: ActiveRun): Promise<void> {
  if (active.standing.in === "background" && (active.tool.kind ?? "tool") !== "tool") {
    active.isHandedBack = true
    active.abort.abort(new Error("Meanwhile is shutting down"))
    active.processAbort.abort()
    return
  }
  await stopRun(scope, active, { by: "shutdown", reason: "Meanwhile was shut down" })
}

async function drain(
  scope: RunnerScope,
  runs: readonly ActiveRun[],
  { drainMs = 0, signal }: ShutdownOptions,
): Promise<void> {
  if (drainMs === 0 || runs.length === 0 || signal?.aborted) return
  const over = Promise.withResolvers<void>()
  const cancelTimer = scope.clock.schedule(drainMs, over.resolve)
  const stopDraining = () => over.resolve()
  signal?.addEventListener("abort", stopDraining)
  await Promise.race([over.promise, Promise.all(runs.map((active) => active.ended.promise))])
  cancelTimer()
  signal?.removeEventListener("abort", stopDraining)
}

function outlivesRuntime(active: ActiveRun): boolean {
  return active.lifetime === "forever" && active.standing.in === "background" && active.tool.reattaches === true
}
