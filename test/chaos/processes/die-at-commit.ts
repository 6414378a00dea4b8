import type { Runtime } from "../../../src/app.ts"

/** The n-th commit after it was opened, before it or when it has happened and nobody was told. */
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
  const commit = store.commit as (operations: readonly unknown[]) => Promise<readonly unknown[]>
  let count = 0
  async function commitOrDie(operations: readonly unknown[]): Promise<readonly unknown[]> {
    count += 1
    const isHere = count === number
    if (isHere && when === "before") process.kill(process.pid, signal)
    const answers = await commit(operations)
    if (isHere && when === "after") process.kill(process.pid, signal)
    return answers
  }
  Object.assign(store, { commit: commitOrDie })
}
