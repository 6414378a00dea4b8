import type { TaskId } from "../../task/id.ts"

/** One agent after the other is let in below a parent, so that ten asked for at once are counted like ten in a row. */
export interface FamilyLock {
  /** Waits for its turn; returns how to end it. */
  take(parent: TaskId): Promise<() => void>
}

export function createFamilyLock(): FamilyLock {
  const last = new Map<TaskId, Promise<void>>()
  return {
    async take(parent) {
      const before = last.get(parent)
      const turn = Promise.withResolvers<void>()
      last.set(parent, turn.promise)
      await before
      return () => {
        if (last.get(parent) === turn.promise) last.delete(parent)
        turn.resolve()
      }
    },
  }
}
