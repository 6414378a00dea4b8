import { getRollbackPlans } from "pg-boss"
import { afterEach, beforeEach, expect, test } from "vitest"
import type { Database } from "../connection/database.ts"
import { createBoss } from "../queue/boss.ts"
import { openDatabase } from "../connection/open-database.ts"
import { grantUse } from "./grant-use.ts"
import { migrate, STORE_VERSION } from "./migrations.ts"
import { migrateQueue, QUEUE_VERSION, readQueueVersion } from "./queue-schema.ts"
import { MIGRATIONS } from "./schema-changes.ts"
import { createTestDatabase, START_PATIENCE_MS, type TestDatabase } from "../../../../test/support/postgres/server.ts"

const SCHEMA = "meanwhile"

let place: TestDatabase
let opened: Database[]
let database: Database

beforeEach(async () => {
  opened = []
  place = await createTestDatabase({ isEmpty: true })
  database = await open()
})

afterEach(async () => {
  await Promise.all(opened.map((one) => one.close()))
  await place.drop()
})

async function open(user = "postgres"): Promise<Database> {
  const url = new URL(place.url)
  url.username = user
  const one = await openDatabase({ url: url.href, poolSize: 2, startPatienceMs: START_PATIENCE_MS })
  opened.push(one)
  return one
}

async function createRole(): Promise<string> {
  const role = `worker_${opened.length}_${process.pid}_${Math.floor(performance.now())}`
  await database.query(`CREATE ROLE ${role} LOGIN`)
  return role
}

async function versions(): Promise<readonly { version: number }[]> {
  return database.query<{ version: number }>(`SELECT version FROM ${SCHEMA}.store_versions ORDER BY version`)
}

test("an empty database gets the tables of this version and those of the queue, once", async () => {
  await migrate(database, SCHEMA)
  const first = await versions()
  await migrate(database, SCHEMA)
  expect(first.map(({ version }) => version)).toEqual(Array.from({ length: STORE_VERSION }, (_, index) => index + 1))
  expect(await versions()).toEqual(first)
  expect(await database.query("SELECT number FROM tasks")).toEqual([])
  expect(await readQueueVersion(database.query, SCHEMA)).toBe(QUEUE_VERSION)
})

test("several that start at once find one store", async () => {
  const others = await Promise.all([open(), open(), open(), open()])
  await Promise.all([database, ...others].map((one) => migrate(one, SCHEMA)))
  expect(await versions()).toHaveLength(STORE_VERSION)
})

test("two stores lie beside each other in one database", async () => {
  await Promise.all([migrate(database, "one"), migrate(await open(), "other")])
  await database.query("SELECT FROM one.tasks, other.tasks, one_queue.job, other_queue.job")
})

test("a newer store is used while it says that it can be, and refused and left as it is when not", async () => {
  await migrate(database, SCHEMA)
  await database.query(`INSERT INTO ${SCHEMA}.store_versions (version, usable_from) VALUES (1000, ${STORE_VERSION})`)
  await migrate(database, SCHEMA)
  await database.query(`INSERT INTO ${SCHEMA}.store_versions (version, usable_from) VALUES (1001, 1000)`)
  await expect(migrate(database, SCHEMA)).rejects.toMatchObject({
    code: "store_newer",
    details: { schema: SCHEMA, storeVersion: 1001, knownVersion: STORE_VERSION },
  })
  expect(await versions()).toHaveLength(STORE_VERSION + 2)
})

test("another program's tables are left alone", async () => {
  await database.query(`CREATE SCHEMA ${SCHEMA}; CREATE TABLE ${SCHEMA}.theirs ()`)
  await expect(migrate(database, SCHEMA)).rejects.toMatchObject({ code: "store_damaged" })
  expect(await database.query("SELECT to_regclass('tasks') IS NULL AS missing")).toEqual([{ missing: true }])
})

test("a migration that fails leaves nothing behind", async () => {
  await database.query(`CREATE SCHEMA ${SCHEMA}_queue; CREATE TABLE ${SCHEMA}_queue.queue ()`)
  await expect(migrate(database, SCHEMA)).rejects.toMatchObject({ name: "MeanwhileError" })
  expect(await database.query(`SELECT to_regnamespace('${SCHEMA}') IS NULL AS missing`)).toEqual([{ missing: true }])
})

test("tables of an earlier pg-boss are migrated to this version with what waits in them", async () => {
  await migrate(database, SCHEMA)
  const queue = `${SCHEMA}_queue`
  await database.query(`SELECT ${queue}.create_queue('builds', '{"policy":"standard"}')`)
  await database.query(`INSERT INTO ${queue}.job (name, data) VALUES ('builds', '{"task":"one"}')`)
  for (let version = QUEUE_VERSION; version > QUEUE_VERSION - 3; version--)
    await database.query(getRollbackPlans(queue, version))
  expect(await readQueueVersion(database.query, SCHEMA)).toBe(QUEUE_VERSION - 3)
  await Promise.all([migrate(database, SCHEMA), migrate(await open(), SCHEMA)])
  expect(await readQueueVersion(database.query, SCHEMA)).toBe(QUEUE_VERSION)
  expect(await database.query(`SELECT data FROM ${queue}.job`)).toEqual([{ data: { task: "one" } }])
  await database.query(`UPDATE ${queue}.version SET version = ${QUEUE_VERSION + 1}`)
  await migrate(database, SCHEMA)
  expect(await readQueueVersion(database.query, SCHEMA)).toBe(QUEUE_VERSION + 1)
})

test("a role that may not create tables is told who can, and works once that was done", async () => {
  const role = await createRole()
  const worker = await open(role)
  await expect(migrate(worker, SCHEMA)).rejects.toMatchObject({
    code: "store_read_only",
    message: expect.stringMatching(
      new RegExp(`no tables .* role ${role} .*\`meanwhile migrate --engine postgres://postgres@\\S+ --grant ${role}\``),
    ),
  })
  await migrate(database, SCHEMA)
  await expect(migrate(worker, SCHEMA)).rejects.toMatchObject({ code: "store_read_only" })
  await grantUse({ database, url: place.url, schema: SCHEMA, role })
  await migrate(worker, SCHEMA)
  await worker.query("INSERT INTO documents VALUES ('home', 'notes', 'one', nextval('task_numbers'), 1, '{}')")
  await worker.query(`SELECT ${SCHEMA}_queue.create_queue('builds', '{"policy":"standard"}')`)
  await worker.query(`INSERT INTO ${SCHEMA}_queue.job (name) VALUES ('builds')`)
  await expect(worker.query("CREATE TABLE more ()")).rejects.toMatchObject({ code: "store_read_only" })
})

test("a role that may not change tables leaves those of an earlier pg-boss as they are, and says who can", async () => {
  await migrate(database, SCHEMA)
  const role = await createRole()
  await grantUse({ database, url: place.url, schema: SCHEMA, role })
  await database.query(getRollbackPlans(`${SCHEMA}_queue`, QUEUE_VERSION))
  const worker = await open(role)
  await expect(migrate(worker, SCHEMA)).rejects.toMatchObject({
    code: "store_read_only",
    message: expect.stringContaining(`the role ${role} may not change them`),
  })
  expect(await readQueueVersion(database.query, SCHEMA)).toBe(QUEUE_VERSION - 1)
  await migrate(database, SCHEMA)
  expect(await migrate(worker, SCHEMA)).toBe(false)
  const boss = await createBoss(worker, SCHEMA, (message) => expect.unreachable(message))
  await boss.insert(worker.query, [{ id: crypto.randomUUID(), plugin: "shell", workspace: "home", priority: 0 }])
  expect(await boss.fetch("shell", { limit: 2 })).toHaveLength(1)
  await boss.close()
})

test("a role that may use the store may also use what a later migration adds", async () => {
  await migrate(database, SCHEMA)
  const role = await createRole()
  await grantUse({ database, url: place.url, schema: SCHEMA, role })
  await database.query("CREATE TABLE added ()")
  expect(await (await open(role)).query("SELECT FROM added")).toEqual([])
})

/** As programs of the fourth version write it. */
async function insertSession(id: string, data: object): Promise<void> {
  const columns = "number, id, workspace, version, created_at, updated_at, message_count, data"
  const values = "nextval('session_numbers'), $1, 'home', 1, 5, 5, 0, $2"
  await database.query(`INSERT INTO sessions (${columns}) VALUES (${values})`, [id, JSON.stringify(data)])
}

/** Writes a store as the fourth version left it. */
async function writeFourthVersion(): Promise<void> {
  await migrateQueue(database, SCHEMA, START_PATIENCE_MS)
  await database.query(`CREATE SCHEMA ${SCHEMA}`)
  for (const { statements } of MIGRATIONS.slice(0, 4)) await database.query(statements)
  await database.query(`CREATE TABLE store_versions
    (version integer PRIMARY KEY, usable_from integer NOT NULL, reached_at timestamptz NOT NULL DEFAULT clock_timestamp());
    INSERT INTO store_versions (version, usable_from) SELECT version, 1 FROM generate_series(1, 4) AS version`)
  await insertSession("main", { name: "main", model: "", parent: null, title: "\u0000 \ud800" })
  await insertSession("below", { name: 'a "quoted" \\ name', model: "", parent: "main", title: "\u0000 \ud800" })
  await insertSession("odd", { name: "main", plugins: { parent: "main" } })
}

const readParents = () => database.query("SELECT id, parent, metadata FROM sessions ORDER BY number")

test("a store of the fourth version is migrated with its sessions, each below its parent", async () => {
  await writeFourthVersion()
  expect(await migrate(database, SCHEMA)).toBe(true)
  expect(await readParents()).toEqual([
    { id: "main", parent: null, metadata: "{}" },
    { id: "below", parent: "main", metadata: "{}" },
    { id: "odd", parent: null, metadata: "{}" },
  ])
})

test("what a program of the fourth version writes and removes beside this one is found and gone", async () => {
  await writeFourthVersion()
  await migrate(database, SCHEMA)
  await insertSession("late", { name: "late", model: "", parent: "below", title: "\u0000" })
  expect((await readParents()).at(-1)).toEqual({ id: "late", parent: "below", metadata: "{}" })
  await database.query("INSERT INTO session_metadata SELECT 'home', 'userId', 'anna', number FROM sessions")
  await database.query("DELETE FROM sessions WHERE id <> 'main'")
  expect(await database.query("SELECT FROM session_metadata")).toHaveLength(1)
})
