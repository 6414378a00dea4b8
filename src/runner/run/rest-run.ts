import type { TaskId } from "../../task/id.ts"
import type { SlotScope, StopScope } from "./scope.ts"
import { yieldSlots } from "./yield-slots.ts"
import { restDeadlines } from "./deadline.ts"

/**
 * Until the returned function is called, the run and those above it hold no slot, and no time counts against their
 * limits: they wait for somebody else.
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
