import { closeAll } from "../../base/close-all.ts"
import { MeanwhileError } from "../../base/error.ts"
import type { ActiveRun } from "../run/active-run.ts"
import { toSecretGone } from "./on-crash.ts"
import { detachRun } from "../run/ownership.ts"
import { storeOutputSoFar } from "../run/stream-output.ts"
import type { RunnerScope } from "../scope.ts"
import type { Pump } from "./pump.ts"
import { isAlone } from "./reclaim.ts"
import { describeShutdown } from "./this-worker.ts"
import { type Chore, warn } from "../upkeep/repeat.ts"
import { giveUpAfterGrace, stopRun } from "../run/stop-run.ts"

const PAGE_SIZE = 100

export interface ShutdownOptions {
  /** How long what runs may go on to its own end. Default 0. */
  readonly drainMs?: number
  /** Ends the drain early, for example at a second Ctrl+C. */
  readonly signal?: AbortSignal
}

export interface RunnerParts {
  readonly pump: Pump
  readonly chores: readonly Chore[]
  readonly obedience: Chore
}

/** What brings new runs ends first, then the runs, then what they needed: all of it, also when a part fails. */
export function shutDown(
  scope: RunnerScope,
  { pump, chores, obedience }: RunnerParts,
  options: ShutdownOptions,
): Promise<void> {
  scope.isClosing = true
  let isAnyLeft = false
  return closeAll([
    () => pump.close(),
    () => Promise.all(chores.map((chore) => chore.close())),
    async () => {
      isAnyLeft = await stopEverything(scope, options)
    },
    () => endHeldTasks(scope),
    () => scope.tools.close(),
    () => obedience.close(),
    () => scope.durations.flush(),
    () => scope.spool.close().catch((error: unknown) => warn(scope, error)),
    () => scope.closed.abort(),
    () => (isAnyLeft ? scope.worker.leave(scope.config.hostReturnSeconds * 1_000) : scope.worker.close()),
  ])
}

/**
 * Lets work end by itself for a while, then stops it. Processes that outlive Meanwhile are let go; agents and workflows
 * go back to the queue. Answers whether something goes on that workers of other machines must leave alone.
 */
async function stopEverything(scope: RunnerScope, options: ShutdownOptions): Promise<boolean> {
  await Promise.allSettled(scope.entering)
  await drain(scope, options)
  let isAnyLeft = false
  // Until its stop is stored a run goes on, and may call something: that is let go of next.
  for (let runs = scope.active.values(); runs.length > 0; runs = scope.active.values()) {
    isAnyLeft ||= !isAlone(scope) && runs.some(outlivesRuntime)
    await Promise.all(runs.map((active) => letGo(scope, active)))
    await Promise.all(runs.map((active) => active.ended.promise))
  }
  return isAnyLeft
}

/** What queues here with a secret in its input could run nowhere else: it ends, and says why. */
async function endHeldTasks(scope: RunnerScope): Promise<void> {
  const held = { inputHeldBy: scope.worker.id, statuses: ["queued", "waiting"] } as const
  for (;;) {
    const { items } = await scope.store.tasks(held, { limit: PAGE_SIZE })
    const ended = await Promise.allSettled(
      items.map(({ id: taskId, run }) =>
        scope.store.commit([{ op: "task.apply", run: { taskId, run }, event: toSecretGone("shutdown") }]),
      ),
    )
    if (!ended.some((end) => end.status === "fulfilled")) return
  }
}

async function letGo(scope: RunnerScope, active: ActiveRun): Promise<void> {
  if (outlivesRuntime(active)) {
    await storeOutputSoFar(scope, active)
    return detachRun(active)
  }
  if (active.standing.in === "background" && (active.tool.kind ?? "tool") !== "tool") {
    active.isHandedBack = true
    active.abort.abort(new MeanwhileError("closed", "Meanwhile is shutting down."))
    active.processAbort.abort()
    giveUpAfterGrace(scope, active)
    return
  }
  await stopRun(scope, active, { by: "shutdown", reason: describeShutdown(scope) })
}

async function drain(scope: RunnerScope, { drainMs = 0, signal }: ShutdownOptions): Promise<void> {
  const runs = [...scope.active.values()].filter((active) => !outlivesRuntime(active))
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
