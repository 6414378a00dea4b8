import { closeAll } from "../../base/close-all.ts"
import { MeanwhileError } from "../../base/error.ts"
import { sleep } from "../../base/sleep.ts"
import { whenAborted } from "../../base/when-aborted.ts"
import { kindOf } from "../../plugin/tool.ts"
import { storeOutputSoFar } from "../output/deliver-output.ts"
import type { Pump } from "../queue/pump.ts"
import { isAlone } from "../recover/reclaim.ts"
import type { ActiveRun } from "../run/active-run.ts"
import { toSecretGone } from "../run/on-crash.ts"
import { detachRun } from "../run/ownership.ts"
import { runsAbove } from "../run/runs-above.ts"
import type { FenceScope, HasActive, HasEngine, HasSpool, HasTools, StopScope } from "../run/scope.ts"
import { giveUpAfterGrace, stopRun } from "../run/stop-run.ts"
import { isTurn } from "../tool/tool-source.ts"
import { type Chore, warn } from "../worker/repeat.ts"
import { describeShutdown } from "../worker/worker-identity.ts"

const PAGE_SIZE = 100

export interface ShutdownOptions {
  /** How long runs may go on to their own end. Default 0. */
  readonly drainMs?: number
  /** Ends the drain early, for example at a second Ctrl+C. */
  readonly signal?: AbortSignal
  /**
   * Default false: agents and turns may come to their end as well. True: they go back to the queue while the rest
   * drains.
   */
  readonly handsBack?: boolean
}

/** Ends the sources of new runs first, then the runs, then the parts they needed: all of them, even if one fails. */
export function shutDown(
  scope: StopScope & HasEngine & HasSpool & HasTools,
  pump: Pump | undefined,
  chores: readonly Chore[],
  remoteStops: Chore,
  options: ShutdownOptions,
): Promise<void> {
  scope.active.isClosing = true
  let isAnyLeft = false
  return closeAll([
    () => pump?.stop(),
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
    () => pump?.close(),
    () => (isAnyLeft ? scope.worker.leave(scope.config.hostReturnSeconds * 1_000) : scope.worker.close()),
  ])
}

/**
 * Drains, then stops what still runs. Processes that outlive Meanwhile are detached; agents and workflows go back to the
 * queue. True if something goes on that workers of other machines must leave alone.
 */
async function stopEverything(
  scope: StopScope & HasEngine,
  pump: Pump | undefined,
  options: ShutdownOptions,
): Promise<boolean> {
  await Promise.allSettled(scope.active.entering)
  await drain(scope, pump, options)
  let isAnyLeft = false
  // A run goes on until its stop is stored, and may make another call: the next round handles that.
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

/** The end of a run wakes the drain. The end of a step inside a run is found by these looks. */
const LOOK_EVERY_MS = 500

/**
 * Lets work end by itself for a while, and tells others that this worker takes nothing new. With `handsBack`, an agent
 * goes back to the queue as soon as no call and no step of it is under way. After a crash before that, other workers take
 * it over as after every crash.
 */
async function drain(scope: StopScope & HasEngine, pump: Pump | undefined, options: ShutdownOptions): Promise<void> {
  const { drainMs = 0, signal, handsBack = false } = options
  if (drainMs === 0 || findGoing(scope).length === 0 || signal?.aborted) return
  const over = new AbortController()
  const end = (): void => over.abort()
  const cancelTimer = scope.clock.schedule(drainMs, end)
  signal?.addEventListener("abort", end)
  const told = pump?.leave()
  if (handsBack) void handBackUntil(scope, over.signal)
  await Promise.race([whenAborted(over.signal), allEnded(scope)])
  end()
  cancelTimer()
  signal?.removeEventListener("abort", end)
  await told
}

function findGoing(scope: HasActive): readonly ActiveRun[] {
  return scope.active.values().filter((active) => !outlivesRuntime(active))
}

/** Resolves when all runs have ended, and those that they began meanwhile. */
async function allEnded(scope: HasActive): Promise<void> {
  for (let runs = findGoing(scope); runs.length > 0; runs = findGoing(scope)) {
    await Promise.all(runs.map((active) => active.ended.promise))
  }
}

async function handBackUntil(scope: StopScope & HasEngine, over: AbortSignal): Promise<void> {
  const ending = whenAborted(over)
  while (!over.aborted) {
    await Promise.all(findUnoccupied(scope).map((active) => handOff(scope, active)))
    const ended = findGoing(scope).map((active) => active.ended.promise)
    await Promise.race([ending, sleep(scope.clock, LOOK_EVERY_MS, { isBackground: true }), ...ended])
  }
}

/** Agents and turns in which nothing is under way that would have to be stopped, or might not be repeated. */
function findUnoccupied(scope: HasActive): readonly ActiveRun[] {
  const runs = findGoing(scope)
  const occupied = new Set(runs.filter(isUnderWay).flatMap((active) => upToItsTask(runsAbove(scope, active))))
  return runs.filter((active) => !isToolCall(active) && !occupied.has(active))
}

/** True for a call that somebody waits for, or a run in the middle of a step. An agent is as occupied as its calls. */
function isUnderWay(active: ActiveRun): boolean {
  const isWaitedFor = active.standing.in !== "background" && isToolCall(active)
  return isWaitedFor || active.steps.journal.values().some((step) => step.state === "started" && step.isRunning)
}

const isToolCall = ({ call }: ActiveRun): boolean => kindOf(call.tool) === "tool"

/** No caller waits for a task in the background: a search for callers ends there. */
function upToItsTask(runs: readonly ActiveRun[]): readonly ActiveRun[] {
  const last = runs.findIndex((active) => active.standing.in === "background" && !isTurn(active.call))
  return last === -1 ? runs : runs.slice(0, last + 1)
}

/**
 * Hands a run off at a shutdown: a process that outlives Meanwhile goes on, an agent goes back to the queue, the rest
 * is stopped.
 */
async function handOff(scope: StopScope & HasEngine, active: ActiveRun): Promise<void> {
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

function outlivesRuntime(active: ActiveRun): boolean {
  return (
    active.call.lifetime === "forever" && active.standing.in === "background" && active.call.tool.reattaches === true
  )
}
