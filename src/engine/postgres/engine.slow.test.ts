import { expect, onTestFinished, test } from "vitest"
import type { TakeRequest } from "../../task/dispatcher.ts"
import { TASK_KINDS } from "../../task/record.ts"
import { applyEvents, COMPLETED, createTask, STARTED, WORKER } from "../suite/samples.ts"
import { expectRefusal, waitUntil } from "../suite/subject.ts"
import { openDatabase } from "./connection/open-database.ts"
import { createPostgresEngine } from "./engine.ts"
import { startTestServer } from "../../../test/support/postgres/server.ts"

const REQUEST: TakeRequest = {
  worker: WORKER,
  limit: 10,
  kinds: TASK_KINDS,
  plugins: ["shell"],
  fullSessions: [],
  fullModels: [],
  fullWorkspaces: [],
}

test.each(["SIGINT", "SIGKILL"] as const)("work goes on after the server ended by %s and came back", async (signal) => {
  const server = await startTestServer({ isDurable: true })
  onTestFinished(() => server.stop())
  const { url } = await server.createDatabase()
  const [one, other] = [await createPostgresEngine({ url }), await createPostgresEngine({ url })]
  const before = await createTask(one)
  const held = await createTask(one)
  expect(await one.dispatcher.take({ ...REQUEST, limit: 1 })).toMatchObject([{ taskId: before.id }])
  const restarted = server.restart(signal)
  const during = await createTask(one)
  await restarted
  const ids = [before.id, held.id, during.id]
  await waitUntil(async () => (await other.dispatcher.take(REQUEST)).length === ids.length)
  for (const id of ids) await applyEvents(other, id, STARTED, COMPLETED)
  expect(await one.dispatcher.take(REQUEST)).toEqual([])
  const heard = Promise.withResolvers<void>()
  other.dispatcher.onOffer(heard.resolve)
  await createTask(one)
  await heard.promise
  expect(await one.store.checkIntegrity()).toEqual({ isHealthy: true, problems: [] })
  await Promise.all([one.close(), other.close()])
})

test("a lease is not over because its holder could not renew it while the server was down", async () => {
  const server = await startTestServer()
  onTestFinished(() => server.stop())
  const { url } = await server.createDatabase()
  await using engine = await createPostgresEngine({ url })
  const { store } = engine
  const lease = { op: "lease.take", key: "worker/1", holder: "1", ttlMs: 60_000, data: {} } as const
  await store.commit([lease])
  const database = await openDatabase({ url })
  onTestFinished(() => database.close())
  await database.query("UPDATE leases SET renewed_at = renewed_at - interval '1 hour'")
  await server.restart()
  expect(await store.leases("worker/")).toMatchObject([{ isOver: false }])
  await expectRefusal(store.commit([{ ...lease, holder: "2" }]), "lease_held")
})

test("an engine whose server is gone can be closed", async () => {
  const server = await startTestServer()
  onTestFinished(() => server.stop())
  const { url } = await server.createDatabase()
  const engine = await createPostgresEngine({ url })
  await createTask(engine)
  expect(await engine.dispatcher.take(REQUEST)).toHaveLength(1)
  await server.kill()
  await engine.close()
  await server.start()
})
