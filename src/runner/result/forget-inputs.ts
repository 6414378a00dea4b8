import type { HasActive, HasStore, HasWritten } from "../run/scope.ts"

/** So many are looked at in a round; the others have their turn in a later one. */
const LOOKS_PER_ROUND = 100

/**
 * Forgets secrets that nothing will ask for: of tasks that another process removed or stripped. What is being written
 * now is not in the store yet, so it is waited for before the store is asked.
 */
export async function forgetInputs(scope: HasStore & HasActive & HasWritten): Promise<void> {
  const held = [...scope.written.heldInputs.keys()].slice(0, LOOKS_PER_ROUND)
  if (held.length === 0) return
  await Promise.allSettled(scope.active.entering)
  for (const id of held) {
    const input = scope.written.heldInputs.get(id)
    const task = await scope.store.task(id)
    // It was begun anew meanwhile.
    if (scope.written.heldInputs.get(id) !== input) continue
    scope.written.heldInputs.delete(id)
    const isNeeded = scope.active.has(id) || (task && task.strippedAt === null)
    // At the end of the line again.
    if (isNeeded && input !== undefined) scope.written.heldInputs.set(id, input)
  }
}
