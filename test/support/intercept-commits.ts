import type { Engine } from "../../src/task/engine.ts"
import type { LifecycleEventType } from "../../src/task/lifecycle.ts"
import type { Operation } from "../../src/task/operation.ts"
import type { CommitOptions } from "../../src/task/store.ts"

type Commit = (operations: readonly Operation[]) => Promise<readonly unknown[]>

/** Passes every commit of the store through `intercept`, which may call the real one. */
export function interceptCommits(
  { engine: { store } }: { readonly engine: Pick<Engine, "store"> },
  intercept: (operations: readonly Operation[], commit: Commit) => Promise<readonly unknown[]>,
): void {
  const commit = store.commit as (...given: unknown[]) => Promise<readonly unknown[]>
  const intercepted = (operations: readonly Operation[], options?: CommitOptions): Promise<readonly unknown[]> =>
    intercept(operations, (own) => commit(own, options))
  Object.assign(store, { commit: intercepted })
}

export function hasEvent(operations: readonly Operation[], type: LifecycleEventType): boolean {
  return operations.some((operation) => operation.op === "task.apply" && operation.event.type === type)
}
