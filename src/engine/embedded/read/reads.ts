import type { TaskStore } from "../../../task/store.ts"

/** The reads of a store, as its tables answer them: synchronously. */
export type Reads = {
  readonly [Name in keyof TaskStore]: (...asked: Parameters<TaskStore[Name]>) => Awaited<ReturnType<TaskStore[Name]>>
}
