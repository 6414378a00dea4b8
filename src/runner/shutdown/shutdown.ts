import { closeAll } from "../../base/close-all.ts"
import { MeanwhileError } from "../../base/error.ts"
import { sleep } from "../../base/sleep.ts"
import { whenAborted } from "../../base/when-aborted.ts"
import { kindOf } from "../../plugin/tool.ts"
import { isRefusedForNow } from "../../task/store-refusal.ts"
import { storeOutputSoFar } from "../output/deliver-output.ts"
import type { Pump } from "../queue/pump.ts"
import type { TaskId } from "../../task/id.ts"
import { isAlone } from "../recover/reclaim.ts"
import type { ActiveRun } from "../run/active-run.ts"
import { decideOnCrash, toSecretGone } from "../run/on-crash.ts"
import { countedMs } from "../run/deadline.ts"
import { detachRun } from "../run/ownership.ts"
import { runsAbove } from "../run/runs-above.ts"
import type {
  FenceScope,
  HasActive,
  HasClock,
  HasEngine,
  HasSpool,
  HasStore,
  HasTools,
  HasWorker,
  StopScope,
} from "../run/scope.ts"
import { giveUpAfterGrace, stopRun } from "../run/stop-run.ts"
import { isTurn } from "../tool/tool-source.ts"
import { type Chore, warn } from "../worker/repeat.ts"
import { describeShutdown } from "../worker/worker-identity.ts"
import { listWorkers } from "../worker/worker-list.ts"
import { NOTHING_LEFT, readWorkLeft, type WorkLeft } from "./work-left.ts"

const PAGE_SIZE = 100

export interface ShutdownOptions {
  /**
   * The fate of work that runs. Default `stop`: commands and tools are stopped, except lifetime `forever`; agents and
   * turns go back to the queue. `keep` loses no more than a crash would: calls in the foreground become tasks, or are left
   * to the next claim of their turn; commands go on, and their time limits hold; agents, turns and tools whose step may be
   * repeated go back to the queue; only what can do neither is stopped.
   */
  readonly work?: "keep" | "stop"
  /** How long runs may go on to their own end. Default 0. */
  readonly drainMs?: number
  /** Ends the drain early, for example at a second Ctrl+C. */
  readonly signal?: AbortSignal
  /**
   * Default false: agents and turns may come to their end as well. True: they go back to the queue while the rest
   * drains, and so do, after the drain, tools whose step may be repeated.
   */
  readonly handsBack?: boolean
}

/** Options of a shutdown that keeps work, which says what became of it. */
export type KeepingOptions = ShutdownOptions & { readonly work: "keep" }

/** Ends the sources of new runs first, then the runs, then the parts they needed: all of them, even if one fails. */
export async function shutDown(
  scope: StopScope & HasEngine & HasSpool & HasTools,
  pump: Pump | undefined,
  chores: readonly Chore[],
  remoteStops: Chore,
  options: ShutdownOptions,
): Promise<WorkLeft> {
  scope.active.isClosing = true
  let isAnyLeft = false
  let left = NOTHING_LEFT
  const ids = new Set<TaskId>()
  await closeAll([
    () => pump?.stop(),
    () => Promise.all(chores.map((chore) => chore.close())),
    async () => {
      isAnyLeft = await stopEverything(scope, pump, options, ids)
    },
    () => endHeldTasks(scope, ids),
    async () => {
      if (options.work === "keep") left = { ...(await readWorkLeft(scope, ids)), others: await listOthers(scope) }
    },
    () => scope.tools.close(),
    () => remoteStops.close(),
    () => scope.tools.durations.flush().catch((error: unknown) => warn(scope, error)),
    () => scope.spool.close().catch((error: unknown) => warn(scope, error)),
    () => scope.active.closed.abort(),
    () => pump?.close(),
    () => giveUpLease(scope, isAnyLeft),
  ])
  return left
}

async function listOthers(scope: HasStore & HasWorker): Promise<WorkLeft["others"]> {
  return (await listWorkers(scope)).filter(({ id }) => id !== scope.worker.id)
}

/** A lease that a store refuses to take back is over by itself, and fails no close. */
async function giveUpLease(scope: StopScope, isAnyLeft: boolean): Promise<void> {
  try {
    await (isAnyLeft ? scope.worker.leave(scope.config.hostReturnSeconds * 1_000) : scope.worker.close())
  } catch (error) {
    if (!isRefusedForNow(error)) throw error
    warn(scope, error)
  }
}

/**
 * Drains, then stops what still runs. Processes that outlive Meanwhile are detached; agents and workflows go back to the
 * queue. True if something goes on that workers of other machines must leave alone. Adds to `ids` the tasks that ran.
 */
async function stopEverything(
  scope: StopScope & HasEngine,
  pump: Pump | undefined,
  options: ShutdownOptions,
  ids: Set<TaskId>,
): Promise<boolean> {
  await Promise.allSettled(scope.active.entering)
  // A worker that leaves is nobody's successor: from here on no other program counts on this one.
  if (options.work === "keep") await pump?.leave()
  await drain(scope, pump, options)
  let isAnyLeft = false
  // A run goes on until its stop is stored, and may make another call: the next round handles that.
  for (let runs = scope.active.values(); runs.length > 0; runs = scope.active.values()) {
    await Promise.all(runs.map((active) => settlePlace(active, options)))
    for (const { taskId, standing } of runs) if (standing.in === "background") ids.add(taskId)
    isAnyLeft ||= !isAlone(scope) && runs.some((active) => outlivesRuntime(active, options))
    await Promise.all(runs.map((active) => handOff(scope, active, options)))
    await Promise.all(runs.map((active) => active.ended.promise))
  }
  return isAnyLeft
}

/** Turns a call that is kept into a task before its turn is handed back, so that the next claim finds the task as its answer. */
async function settlePlace(active: ActiveRun, { work }: ShutdownOptions): Promise<void> {
  if (work === "keep" && active.standing.in === "foreground") await active.standing.promote()
  if (active.standing.in === "promotion") await active.standing.written
}

/** Ends queued tasks whose input held a secret: they could run nowhere else. Their records say why. */
async function endHeldTasks(scope: FenceScope, ids: Set<TaskId>): Promise<void> {
  const held = { inputHeldBy: scope.worker.id, statuses: ["queued", "waiting"] } as const
  for (;;) {
    const { items } = await scope.store.tasks(held, { limit: PAGE_SIZE })
    for (const { id } of items) ids.add(id)
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
  if (drainMs === 0 || findGoing(scope, options).length === 0 || signal?.aborted) return
  const over = new AbortController()
  const end = (): void => over.abort()
  const cancelTimer = scope.clock.schedule(drainMs, end)
  signal?.addEventListener("abort", end)
  const told = pump?.leave()
  if (handsBack) void handBackUntil(scope, over.signal, options)
  await Promise.race([whenAborted(over.signal), allEnded(scope, options)])
  end()
  cancelTimer()
  signal?.removeEventListener("abort", end)
  await told
}

function findGoing(scope: HasActive, options: ShutdownOptions): readonly ActiveRun[] {
  return scope.active.values().filter((active) => !outlivesRuntime(active, options))
}

/** Resolves when all runs have ended, and those that they began meanwhile. */
async function allEnded(scope: HasActive, options: ShutdownOptions): Promise<void> {
  for (let runs = findGoing(scope, options); runs.length > 0; runs = findGoing(scope, options)) {
    await Promise.all(runs.map((active) => active.ended.promise))
  }
}

async function handBackUntil(scope: StopScope & HasEngine, over: AbortSignal, options: ShutdownOptions): Promise<void> {
  const ending = whenAborted(over)
  while (!over.aborted) {
    await Promise.all(findUnoccupied(scope, options).map((active) => handOff(scope, active, options)))
    const ended = findGoing(scope, options).map((active) => active.ended.promise)
    await Promise.race([ending, sleep(scope.clock, LOOK_EVERY_MS, { isBackground: true }), ...ended])
  }
}

/** Agents and turns in which nothing is under way that would have to be stopped, or might not be repeated. */
function findUnoccupied(scope: HasActive, options: ShutdownOptions): readonly ActiveRun[] {
  const runs = findGoing(scope, options)
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
async function handOff(scope: StopScope & HasEngine, active: ActiveRun, options: ShutdownOptions): Promise<void> {
  if (active.control.isHandedBack || active.control.stop) return
  if (outlivesRuntime(active, options)) {
    await storeOutputSoFar(scope, active)
    active.output.spool?.leaveUntil(toDeadline(scope, active))
    return detachRun(active)
  }
  if (goesBack(scope, active, options)) {
    active.control.isHandedBack = true
    active.control.abort.abort(new MeanwhileError("closed", "Meanwhile is shutting down."))
    active.control.processAbort.abort()
    giveUpAfterGrace(scope, active)
    return
  }
  await stopRun(scope, active, { by: "shutdown", reason: describeStop(scope, active) })
}

function outlivesRuntime({ call, standing, control }: ActiveRun, { work = "stop" }: ShutdownOptions): boolean {
  if (standing.in !== "background" || call.tool.reattaches !== true || control.stop) return false
  return work === "keep" || call.lifetime === "forever"
}

/** True for what is left to a next claim: of its task or, for a call in the foreground that is kept, of the turn above it. */
function goesBack(scope: HasActive, active: ActiveRun, options: ShutdownOptions): boolean {
  if (active.standing.in === "background") return !isToolCall(active) || mayGoBack(active, options)
  return active.standing.in === "foreground" && options.work === "keep" && runsAbove(scope, active).some(isHeldTurn)
}

const isHeldTurn = ({ call, standing }: ActiveRun): boolean => isTurn(call) && standing.in === "background"

/** In wall time, which the guard goes by; null: the run has no time limit. */
function toDeadline(scope: HasClock, { times }: ActiveRun): number | null {
  const { limitMs, ranBeforeMs } = times
  return limitMs === null ? null : Date.now() + limitMs - ranBeforeMs - countedMs(scope, times)
}

/** True for a tool that a crash would not have lost: after it the step is repeated, or a person is asked. */
function mayGoBack({ call, steps }: ActiveRun, { work = "stop", handsBack = false }: ShutdownOptions): boolean {
  if (call.isInputHeld === true || (work === "stop" && !handsBack)) return false
  const inFlight = [...steps.journal.values()].flatMap(({ state, onCrash }) => (state === "started" ? [onCrash] : []))
  return decideOnCrash(inFlight, call.tool.onCrash ?? "fail") !== "fail"
}

/** Names what kept the work from going on, so that the record and the report say more than that Meanwhile ended. */
function describeStop(scope: HasEngine, { call, standing }: ActiveRun): string {
  const shutdown = describeShutdown(scope)
  if (standing.in !== "background") return shutdown
  if (call.tool.reattaches === true) return `${shutdown}, which stops its commands`
  return `${shutdown}, and ${call.tool.name} works inside that process and may not be repeated`
}
