import { expect, onTestFinished, test } from "vitest"
import { createBoss } from "../../src/engine/postgres/queue/boss.ts"
import { openDatabase } from "../../src/engine/postgres/connection/open-database.ts"
import { migrateStore } from "../../src/engine/postgres/schema/migrate-store.ts"
import { createTestDatabase } from "../support/postgres/server.ts"
import { runToEnd, startPiped } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

/** Makes a store; returns its URL for a role that may use the tables but neither make nor change any. */
async function createGivenStore(): Promise<string> {
  const { url, drop } = await createTestDatabase({ isEmpty: true })
  onTestFinished(drop)
  const role = `plain_${process.pid}_${Math.floor(performance.now())}`
  const owner = await openDatabase({ url, poolSize: 1 })
  await owner.query(`CREATE ROLE ${role} LOGIN`)
  await owner.close()
  await migrateStore({ url, grantTo: role })
  return url.replace("postgres@", `${role}@`)
}

test("a role that may not change tables is enough for a worker, an agent, and the upkeep of the queue", async () => {
  const engine = await createGivenStore()
  const worker = startPiped({ directory: createFolder(), arguments: ["worker", "--verbose", "--engine", engine] })
  await worker.shows(/takes tasks from/)
  const prompt = "start an agent to run `echo from-the-worker`"
  const words = ["run", prompt, "--engine", engine, "--concurrency", "0"]
  const asked = await runToEnd({ directory: createFolder(), arguments: words })
  expect(asked).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("from-the-worker") })
  await worker.shows(/run left .* kind=agent .* status=completed/)

  const database = await openDatabase({ url: engine })
  const refusals: string[] = []
  const boss = await createBoss(database, "meanwhile", (refusal) => refusals.push(refusal))
  await boss.supervise()
  await boss.close()
  const [rights] = await database.query<{ may: boolean }>(
    "SELECT has_schema_privilege(current_user, 'meanwhile', 'CREATE') AS may",
  )
  await database.close()
  expect(refusals).toEqual([])
  expect(rights).toEqual({ may: false })

  worker.kill("SIGTERM")
  expect(await worker.exited).toBe(0)
  expect(worker.shown()).not.toMatch(/denied|must be owner/)
})
