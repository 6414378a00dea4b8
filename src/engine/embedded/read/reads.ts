import type { TaskStore } from "../../../task/store.ts"

/** The questions that a store is asked, as its tables answer them: at once. */
export type Reads = {
  readonly [Name in keyof TaskStore]: (...asked: Parameters<TaskStore[Name]>) => Awaited<ReturnType<TaskStore[Name]>>
}
