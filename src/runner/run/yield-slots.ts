import type { TaskId } from "../../task/id.ts"
import type { ActiveRun, RunSlots } from "./active-run.ts"
import { runsAbove } from "./runs-above.ts"
import type { HasActive, HasQueue, HasSlots, SlotScope, StopScope } from "./scope.ts"
import { restDeadlines } from "./deadline.ts"

/**
 * Gives up the slots of a run that waits for others, and of all runs above it, so that what it waits for can run even
 * with one slot. The returned function takes them again, even when none is free; a second call does nothing.
 */
export function yieldSlots(scope: SlotScope, active: ActiveRun): () => void {
  const waiting = { run: active, given: runsAbove(scope, active).filter((run) => giveUp(scope, run.slots)) }
  scope.active.yielding.add(waiting)
  if (waiting.given.length > 0) lookForWork(scope)
  return () => {
    scope.active.yielding.delete(waiting)
    for (const run of waiting.given.splice(0)) takeAgain(scope, run)
  }
}

/** Gives up a slot that a run got while one below it already waits: it was promoted, or the turn below began first. */
export function yieldNewSlot(scope: SlotScope, run: ActiveRun): void {
  for (const { run: below, given } of scope.active.yielding) {
    if (given.includes(run) || !runsAbove(scope, below).includes(run) || !giveUp(scope, run.slots)) continue
    given.push(run)
    lookForWork(scope)
  }
}

function lookForWork(scope: HasQueue): void {
  scope.queue.hint.raise()
  scope.queue.nudge()
}

/** Several runs may wait below one: the first gives the slot of that one up, the last takes it again. */
function giveUp(scope: HasSlots, own: RunSlots): boolean {
  if (own.yielded) {
    own.yielded.waiters += 1
    return true
  }
  if (!own.held) return false
  own.yielded = { slot: own.held, waiters: 1 }
  scope.slots.release(own.held)
  own.held = null
  return true
}

/** A run that has ended meanwhile takes no slot: nobody would release it. */
function takeAgain(scope: HasActive & HasSlots, run: ActiveRun): void {
  const own = run.slots
  if (!own.yielded) return
  own.yielded.waiters -= 1
  if (own.yielded.waiters > 0) return
  const { slot } = own.yielded
  own.yielded = null
  if (own.held || scope.active.get(run.taskId) !== run) return
  scope.slots.take(slot)
  own.held = slot
}

/**
 * Until the returned function is called, the run and the runs above it rest: they hold no slot, and no time counts
 * against their limits.
 */
export function restRun(scope: StopScope & SlotScope, id: TaskId): () => void {
  const active = scope.active.get(id)
  if (!active) return () => {}
  const takeSlots = yieldSlots(scope, active)
  const goOn = restDeadlines(scope, active)
  return () => {
    goOn()
    takeSlots()
  }
}
