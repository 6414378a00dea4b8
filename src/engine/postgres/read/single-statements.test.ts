import { expect, test } from "vitest"
import { createWorkerId } from "../../../task/id.ts"
import { WORKER_LEASE_PREFIX } from "../../../task/worker.ts"
import { createEndedTask, createTask } from "../../suite/samples.ts"
import type { Query } from "../connection/database.ts"
import { openDatabase } from "../connection/open-database.ts"
import { createJudgeLease } from "./judge-lease.ts"
import { createStore } from "../store.ts"
import { createTestPostgres } from "../../../../test/support/postgres/engine.ts"

test("counts by status, the age of the queue and the list of workers are one statement each, however much there is", async () => {
  const subject = await createTestPostgres()
  const { engine } = subject
  const database = await openDatabase({ url: subject.url, poolSize: 1 })
  try {
    for (let count = 0; count < 3; count++) {
      const holder = createWorkerId()
      const key = `${WORKER_LEASE_PREFIX}${holder}`
      await engine.store.commit([{ op: "lease.take", key, holder, ttlMs: 60_000, data: {} }])
      await createTask(engine, { as: "running", worker: holder })
      await createTask(engine)
      await createEndedTask(engine)
    }
    const asked: string[] = []
    const query: Query = (statement, values) => {
      asked.push(typeof statement === "string" ? statement : statement.text)
      return database.query(statement, values)
    }
    const store = createStore({
      database: { unreachable: () => undefined, query },
      judgeLease: createJudgeLease(),
      commit: engine.store.commit,
    })
    expect(await store.countByStatus({})).toMatchObject({ running: 3, queued: 3, completed: 3 })
    expect(asked.splice(0)).toHaveLength(1)
    expect(await store.queueAgeMs({})).toBeGreaterThanOrEqual(0)
    expect(asked.splice(0)).toHaveLength(1)
    expect((await store.workers()).map(({ running }) => running)).toEqual([1, 1, 1])
    expect(asked).toHaveLength(1)
  } finally {
    await database.close()
    await subject.dispose()
  }
})
