import type { CountFilter as StoredCountFilter, TaskFilter as StoredTaskFilter } from "../task/store.ts"

type Ids = "workspace" | "session" | "parentTask" | "group" | "worker" | "inputHeldBy"

/** Every field that is given must match. */
export interface TaskFilter extends Omit<StoredTaskFilter, Ids> {
  readonly workspace?: string
  /** Null: tasks without a session. */
  readonly session?: string | null
  readonly parentTask?: string
  readonly group?: string
  /** The worker that runs it now. */
  readonly worker?: string
  readonly inputHeldBy?: string
}

export interface CountFilter extends Omit<StoredCountFilter, "workspace"> {
  readonly workspace?: string
}
