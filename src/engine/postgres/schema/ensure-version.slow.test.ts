import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { getRollbackPlans } from "pg-boss"
import pg from "pg"
import { expect, onTestFinished, test } from "vitest"
import { eventually } from "../../../../test/support/eventually.ts"
import { expectRefusal } from "../../suite/subject.ts"
import { openDatabase } from "../connection/open-database.ts"
import { ensureVersion } from "./migrations.ts"
import { migrateStore } from "./migrate-store.ts"
import { QUEUE_VERSION, readQueueVersion } from "./queue-schema.ts"
import { createTestDatabase } from "../../../../test/support/postgres/server.ts"

async function open({ isEmpty }: { readonly isEmpty: boolean }) {
  const { url, drop } = await createTestDatabase({ isEmpty })
  const database = await openDatabase({ url, statementTimeoutMs: 1_000 })
  const other = new pg.Client(url)
  await other.connect()
  onTestFinished(async () => {
    await Promise.all([database.close(), other.end()])
    await drop()
  })
  const lines: string[] = []
  const leaving = new AbortController()
  const wish = { url, database, leaving: leaving.signal, tell: (line: string) => void lines.push(line) }
  return { url, database, other, lines, leave: () => leaving.abort(), ensure: () => ensureVersion(wish) }
}

test("a migration takes as long as it takes, whatever the limit of other statements is", async () => {
  const { other, ensure } = await open({ isEmpty: true })
  await other.query("BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('meanwhile migration of meanwhile', 0))")
  const ensured = ensure()
  await eventually("it has waited for long", async () => {
    await other.query("SELECT pg_stat_clear_snapshot()")
    const sql = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'
      AND clock_timestamp() - query_start > interval '1100 ms'`
    return (await other.query(sql)).rowCount === 1
  })
  await other.query("COMMIT")
  expect(await ensured).toBe(true)
  expect(await ensure()).toBe(false)
})

test("a migration that a backup holds up holds nobody up, says so, and is made once the backup is over", async () => {
  const { url, other, lines, ensure } = await open({ isEmpty: false })
  await other.query(getRollbackPlans("meanwhile_queue", QUEUE_VERSION))
  await other.query("BEGIN; SELECT FROM meanwhile_queue.job")
  const ensured = ensure()
  await eventually("it says so", () => lines.some((line) => line.includes("backup")))
  const reader = new pg.Client({ connectionString: url, statement_timeout: 1_500 })
  await reader.connect()
  onTestFinished(() => reader.end())
  await reader.query("SELECT FROM meanwhile_queue.job")
  await other.query("COMMIT")
  expect(await ensured).toBe(true)
})

test("a process that leaves does not wait for the end of a backup", async () => {
  const { other, lines, leave, ensure } = await open({ isEmpty: false })
  await other.query(getRollbackPlans("meanwhile_queue", QUEUE_VERSION))
  await other.query("BEGIN; SELECT FROM meanwhile_queue.job")
  const ensured = ensure()
  ensured.catch(() => {})
  await eventually("it says so", () => lines.some((line) => line.includes("backup")))
  leave()
  await expectRefusal(ensured, "store_unavailable")
  await other.query("COMMIT")
})

const MIGRATING = fileURLToPath(new URL("../../../../test/support/postgres/migrating-process.ts", import.meta.url))

test("a process that is killed after pg-boss has migrated and before the store has leaves the rest to the next", async () => {
  const { url, database, other, ensure } = await open({ isEmpty: true })
  await other.query("BEGIN; CREATE SCHEMA meanwhile")
  const child = spawn(process.execPath, [MIGRATING, url], { stdio: "inherit" })
  onTestFinished(() => void child.kill("SIGKILL"))
  await eventually("pg-boss has its tables", async () => (await readQueueVersion(database.query, "meanwhile")) > 0)
  expect(child.exitCode).toBeNull()
  child.kill("SIGKILL")
  await once(child, "exit")
  await other.query("ROLLBACK")
  expect(await database.query("SELECT to_regclass('meanwhile.tasks') AS tasks")).toEqual([{ tasks: null }])
  expect(await ensure()).toBe(true)
  expect(await database.query("SELECT FROM meanwhile.tasks")).toEqual([])
  expect(await readQueueVersion(database.query, "meanwhile")).toBe(QUEUE_VERSION)
})

test("a role that does not exist is refused before anything is changed", async () => {
  const { url, other } = await open({ isEmpty: true })
  await expectRefusal(migrateStore({ url, grantTo: "nobody-there" }), "not_found")
  const { rows } = await other.query("SELECT to_regnamespace('meanwhile') AS schema")
  expect(rows).toEqual([{ schema: null }])
})
