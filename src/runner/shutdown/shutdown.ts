import { closeAll } from "../../base/close-all.ts"
import type { FenceScope, HasEngine, HasSpool, HasTools, StopScope } from "../run/scope.ts"
import { type Chore, warn } from "../worker/repeat.ts"
import { drain, type ShutdownOptions } from "./drain.ts"
import { handOff, outlivesRuntime } from "./handoff.ts"
import { toSecretGone } from "../run/on-crash.ts"
import type { Pump } from "../queue/pump.ts"
import { isAlone } from "../recover/reclaim.ts"

const PAGE_SIZE = 100

export interface RunnerParts {
  readonly pump: Pump
  readonly chores: readonly Chore[]
  readonly remoteStops: Chore
}

/** Ends the sources of new runs first, then the runs, then the parts they needed: all of them, also when one fails. */
export function shutDown(
  scope: StopScope & HasEngine & HasSpool & HasTools,
  { pump, chores, remoteStops }: RunnerParts,
  options: ShutdownOptions,
): Promise<void> {
  scope.active.isClosing = true
  let isAnyLeft = false
  return closeAll([
    () => pump.stop(),
    () => Promise.all(chores.map((chore) => chore.close())),
    async () => {
      isAnyLeft = await stopEverything(scope, pump, options)
    },
    () => endHeldTasks(scope),
    () => scope.tools.close(),
    () => remoteStops.close(),
    () => scope.tools.durations.flush(),
    () => scope.spool.close().catch((error: unknown) => warn(scope, error)),
    () => scope.active.closed.abort(),
    () => pump.close(),
    () => (isAnyLeft ? scope.worker.leave(scope.config.hostReturnSeconds * 1_000) : scope.worker.close()),
  ])
}

/**
 * Lets work end by itself for a while, then stops it. Processes that outlive Meanwhile are let go; agents and workflows
 * go back to the queue. Answers whether something goes on that workers of other machines must leave alone.
 */
async function stopEverything(scope: StopScope & HasEngine, pump: Pump, options: ShutdownOptions): Promise<boolean> {
  await Promise.allSettled(scope.active.entering)
  await drain(scope, pump, options)
  let isAnyLeft = false
  // Until its stop is stored a run goes on, and may call something: that is let go of next.
  for (let runs = scope.active.values(); runs.length > 0; runs = scope.active.values()) {
    isAnyLeft ||= !isAlone(scope) && runs.some(outlivesRuntime)
    await Promise.all(runs.map((active) => handOff(scope, active)))
    await Promise.all(runs.map((active) => active.ended.promise))
  }
  return isAnyLeft
}

/** Ends queued tasks whose input held a secret: they could run nowhere else. Their records say why. */
async function endHeldTasks(scope: FenceScope): Promise<void> {
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
