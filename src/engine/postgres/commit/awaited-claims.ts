import { systemClock } from "../../../base/clock.ts"
import type { TaskId } from "../../../task/id.ts"
import type { Writer } from "../../rules/writer.ts"
import type { LockedTask } from "./load/lock-tasks.ts"

/** What is claimed of the rows that one take has locked and offered. */
export interface AwaitedClaims {
  readonly writers: readonly Writer[]
  /** Answers with the rows that are claimed, in the order of their writers, once no more are to be expected. */
  collect(offered: readonly LockedTask[]): Promise<readonly LockedTask[]>
  isOf(id: TaskId, run: number): boolean
  add(id: TaskId, writer: Writer): void
  decline(ids: readonly TaskId[]): void
  stop(): void
}

/** Whoever is offered something claims it at once, or looks for a moment whether it can. */
const MOMENT_MS = 20

export function createAwaitedClaims(): AwaitedClaims {
  const writers: Writer[] = []
  const claimed: LockedTask[] = []
  const awaited = new Map<TaskId, LockedTask>()
  const isOver = Promise.withResolvers<void>()
  return {
    writers,
    async collect(offered) {
      for (const row of offered) awaited.set(row.id, row)
      if (awaited.size === 0) return []
      const cancel = systemClock.schedule(MOMENT_MS, isOver.resolve)
      await isOver.promise
      cancel()
      awaited.clear()
      return claimed
    },
    isOf: (id, run) => awaited.get(id)?.run === run,
    add(id, writer) {
      const row = awaited.get(id)
      if (!row) throw new Error("this task is not to be claimed here")
      awaited.delete(id)
      writers.push(writer)
      claimed.push(row)
      // Those of the same moment belong together.
      if (awaited.size === 0) isOver.resolve()
      else if (writers.length === 1) setImmediate(isOver.resolve)
    },
    decline(ids) {
      for (const id of ids) awaited.delete(id)
      if (awaited.size === 0) isOver.resolve()
    },
    stop: isOver.resolve,
  }
}
