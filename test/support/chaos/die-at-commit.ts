import type { Runtime } from "../../../src/app.ts"
import type { Operation } from "../../../src/task/operation.ts"
import type { CommitOptions } from "../../../src/task/store.ts"

/**
 * The n-th commit after the store was opened: before it, or after it and before it is answered. Renewals of leases do not
 * count, because the machine's speed decides when they come.
 */
export interface FatalCommit {
  readonly number: number
  readonly when: "before" | "after"
  readonly signal: "SIGKILL" | "SIGSTOP"
}

/** Makes the process send itself the signal at that commit. */
export function dieAtCommit(
  { engine: { store } }: Pick<Runtime, "engine">,
  { number, when, signal }: FatalCommit,
): void {
  const commit = store.commit as (
    operations: readonly Operation[],
    options?: CommitOptions,
  ) => Promise<readonly unknown[]>
  let count = 0
  async function commitOrDie(operations: readonly Operation[], options?: CommitOptions): Promise<readonly unknown[]> {
    const isCounted = operations.some(({ op }) => !op.startsWith("lease."))
    if (isCounted) count += 1
    const isHere = isCounted && count === number
    if (isHere && when === "before") process.kill(process.pid, signal)
    const answers = await commit(operations, options)
    if (isHere && when === "after") process.kill(process.pid, signal)
    return answers
  }
  Object.assign(store, { commit: commitOrDie })
}
