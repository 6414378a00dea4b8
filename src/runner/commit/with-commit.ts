import type { Operation } from "../../task/operation.ts"
import type { CommitOptions, TaskStore } from "../../task/store.ts"
import type { Answers } from "./recall-commit.ts"

/** The same store with another `commit`. */
export function withCommit(
  store: TaskStore,
  commit: (operations: readonly Operation[], options?: CommitOptions) => Promise<Answers>,
): TaskStore {
  return new Proxy(store, {
    get: (target, name) => (name === "commit" ? commit : Reflect.get(target, name)) as unknown,
  })
}
