import type { Runtime } from "../../../src/app.ts"
import type { Operation } from "../../../src/task/operation.ts"
import type { CommitOptions } from "../../../src/task/store.ts"

/**
 * The n-th commit after it was opened, before it or when it has happened and nobody was told. A worker's own sign of life
 * does not count: when it comes is up to the machine.
 */
export interface FatalCommit {
  readonly number: number
  readonly when: "before" | "after"
  readonly signal: "SIGKILL" | "SIGSTOP"
}

/** The process signals itself there. */
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
