import type { DatabaseSync } from "node:sqlite"

/** Runs a piece of work in the transaction that all pieces of the same tick share; resolves once that is durable. */
export type CommitGroup = (work: () => void) => Promise<void>

/**
 * The least that group commit can cost: no queue limits, no isolation of one writer's error from the others, no
 * second process to share the file with.
 */
export function createCommitGroup(database: DatabaseSync): CommitGroup {
  const begin = database.prepare("BEGIN IMMEDIATE")
  const commit = database.prepare("COMMIT")
  let waiting: { readonly work: () => void; readonly done: () => void }[] = []

  function flush(): void {
    const batch = waiting
    waiting = []
    begin.run()
    for (const { work } of batch) work()
    commit.run()
    for (const { done } of batch) done()
  }

  return (work) =>
    new Promise((resolve) => {
      waiting.push({ work, done: resolve })
      if (waiting.length === 1) setImmediate(flush)
    })
}
