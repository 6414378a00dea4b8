import { whenAborted } from "../../base/when-aborted.ts"
import { kindOf } from "../../plugin/tool.ts"
import { sleep } from "../../base/sleep.ts"
import type { ActiveRun } from "../run/active-run.ts"
import { runsAbove } from "../run/runs-above.ts"
import type { HasActive, HasEngine, StopScope } from "../run/scope.ts"
import { isTurn } from "../tool/tool-source.ts"
import type { Pump } from "../queue/pump.ts"
import { handOff, outlivesRuntime } from "./handoff.ts"

export interface ShutdownOptions {
  /** How long what runs may go on to its own end. Default 0. */
  readonly drainMs?: number
  /** Ends the drain early, for example at a second Ctrl+C. */
  readonly signal?: AbortSignal
  /**
   * Default false: agents and turns may come to their end as well. True: they go back to the queue while the rest
   * drains.
   */
  readonly handsBack?: boolean
}

/** The end of a run is heard of; that of a step inside one is looked for. */
const LOOK_EVERY_MS = 500

/**
 * Lets work end by itself for a while, and tells the others that nothing new is taken here. An agent that is to be
 * handed back is as soon as no call and no step of it is under way. Dying before that, it is taken over as after every
 * crash.
 */
export async function drain(scope: StopScope & HasEngine, pump: Pump, options: ShutdownOptions): Promise<void> {
  const { drainMs = 0, signal, handsBack = false } = options
  if (drainMs === 0 || findGoing(scope).length === 0 || signal?.aborted) return
  const over = new AbortController()
  const end = (): void => over.abort()
  const cancelTimer = scope.clock.schedule(drainMs, end)
  signal?.addEventListener("abort", end)
  const told = pump.leave()
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

/** With what they began meanwhile. */
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

/** A call that somebody waits for, or a run amidst a step. An agent is as occupied as what it does. */
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
