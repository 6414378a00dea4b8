import type { TakeRequest } from "../../../src/task/dispatcher.ts"
import type { TaskId } from "../../../src/task/id.ts"
import type { TaskStore } from "../../../src/task/store.ts"
import { createTask, QUEUED, STARTED } from "../../../src/engine/suite/samples.ts"
import type { Database } from "../../../src/engine/postgres/connection/database.ts"
import { createDispatcher, createWatchedCommit } from "../../../src/engine/postgres/queue/dispatcher.ts"
import { createGroupCommit } from "../../../src/engine/postgres/commit/group-commit.ts"
import { createJudgeLease } from "../../../src/engine/postgres/read/judge-lease.ts"
import { createChangeQueue } from "../../../src/engine/postgres/queue/change-queue.ts"
import { createRunGroup } from "../../../src/engine/postgres/commit/run-group.ts"
import { createStore } from "../../../src/engine/postgres/store.ts"
import { type TestQueue, toRequest } from "./queue.ts"

/** A database to write through instead, and a listener for the wake-ups that the process sends to others. */
export type TestProcessOptions = readonly [between?: Pick<Database, "transaction">, onTold?: () => void]

/** The store and the dispatcher of one process. */
export function openTestProcess(
  { database, boss }: Pick<TestQueue, "database" | "boss">,
  ...options: TestProcessOptions
) {
  const [between = database, onTold = () => {}] = options
  let transactions = 0
  const watched: Database = {
    ...database,
    transaction(work, options) {
      transactions += 1
      return between.transaction(work, options)
    },
  }
  const judgeLease = createJudgeLease()
  const runGroup = createRunGroup({
    database: watched,
    judgeLease,
    changeQueue: createChangeQueue(boss, true),
    notify: () => Promise.resolve(),
  })
  const groupCommit = createGroupCommit(runGroup, () => {})
  const dispatcher = createDispatcher({ query: database.query, boss, tellOthers: async () => onTold() })
  const commit = createWatchedCommit(groupCommit.commit, dispatcher) as TaskStore["commit"]
  const store = createStore({ database, judgeLease, commit })
  return {
    dispatcher,
    store,
    create: async (details: Parameters<typeof createTask>[2] = {}) =>
      (await createTask({ store } as never, QUEUED, details)).id,
    take: async (changes: Partial<TakeRequest> = {}) =>
      (await dispatcher.take(toRequest(changes))).map(({ taskId }) => taskId),
    claim: (taskId: TaskId) => commit([{ op: "task.apply", run: { taskId, run: 1 }, event: STARTED }]),
    /** The number of transactions since the last call. */
    countTransactions() {
      const count = transactions
      transactions = 0
      return count
    },
  }
}
