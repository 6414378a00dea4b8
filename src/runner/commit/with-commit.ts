import type { Operation } from "../../task/operation.ts"
import type { CommitOptions, TaskStore } from "../../task/store.ts"
import type { Answers } from "./recall-commit.ts"

/** The same store with another `commit`. Inherits what only reads, since an engine may be an object of a class. */
export function withCommit(
  store: TaskStore,
  commit: (operations: readonly Operation[], options?: CommitOptions) => Promise<Answers>,
): TaskStore {
  return Object.assign(Object.create(store) as TaskStore, { commit })
}
