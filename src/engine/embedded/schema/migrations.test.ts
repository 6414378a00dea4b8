import { DatabaseSync } from "node:sqlite"
import { afterEach, beforeEach, expect, test } from "vitest"
import type { SessionId, TaskId, WorkspaceId } from "../../../task/id.ts"
import { createEmbeddedEngine } from "../engine.ts"
import { APPLICATION_ID } from "./migrations.ts"
import { SCHEMA } from "./schema.ts"
import { MIGRATIONS, SESSIONS_BY_USE } from "./schema-changes.ts"
import { createFolder } from "../../../../test/support/embedded/store.ts"

let path: string
let remove: () => Promise<void>

beforeEach(async () => {
  ;({ path, remove } = await createFolder())
})

afterEach(() => remove())

const workspace = "home" as WorkspaceId
const task = "task-1" as TaskId

/**
 * Writes a store as the second version left it: three conversations, one with messages, and a task in the middle of its
 * steps.
 */
function writeSecondVersion(): void {
  const database = new DatabaseSync(path)
  database.exec(`${SCHEMA}; ${SESSIONS_BY_USE}; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 2`)
  database.exec(`
    INSERT INTO sessions VALUES (1, 'oldest', 'home', 1, 5, 100000, 0, '{}'), (2, 'newest', 'home', 4, 6, 200002, 2, '{"a":1}'),
      (3, 'middle', 'home', 1, 7, 200001, 0, '{}');
    INSERT INTO messages VALUES (2, 1, 8, '"one"'), (2, 2, 9, '"two"');
    INSERT INTO tasks (number, id, status, run, fence, last_sequence, worker, queued_at, started_at, ran_ms,
      has_unused_result, priority, workspace, kind, plugin, tool, lifetime, notify, depth, created_at, tokens, cost_micros,
      resume_count, title, metadata, input)
      VALUES (1, 'task-1', 'running', 1, 1, 5, 'me', 1, 1, 0, 0, 0, 'home', 'tool', 'p', 't', 'runtime', 'wake', 0, 1, 0, 0, 0,
        'title', '{}', 'null');
    INSERT INTO events VALUES (1, 1, 1, 1, 'task.queued', NULL), (1, 2, 1, 1, 'task.started', '{"worker":"me"}'),
      (1, 3, 1, 1, 'step.started', '{"key":"z"}'), (1, 4, 1, 1, 'step.started', '{"key":"a"}'),
      (1, 5, 1, 1, 'step.finished', '{"key":"a","completion":1}');
    INSERT INTO steps VALUES (1, 1, 'z', 'retry', 1, NULL, NULL, NULL), (1, 1, 'a', 'fail', 1, 2, 1, '"done"');
  `)
  database.close()
}

test("a store of the second version is migrated to this one with all it holds", async () => {
  writeSecondVersion()
  await using engine = await createEmbeddedEngine({ path })
  const { store } = engine
  const { items } = await store.sessions({ workspace }, { limit: 10 })
  expect(items.map(({ id }) => id)).toEqual(["newest", "middle", "oldest"])
  expect(await store.messages("newest" as SessionId, 0, 10)).toMatchObject([
    { position: 1, at: 8, body: "one" },
    { position: 2, at: 9, body: "two" },
  ])
  expect((await store.tasks({ worker: "me" as never }, { limit: 10 })).items).toMatchObject([{ id: task }])
  const run = { taskId: task, run: 1 }
  await store.commit([
    { op: "step.start", run, key: "m", onCrash: "fail" },
    { op: "step.finish", run, key: "z", result: null },
    { op: "session.update", id: "newest" as SessionId, expectedVersion: 4, messages: ["three"] },
  ])
  expect(await store.steps(task, 1)).toMatchObject([
    { key: "z", onCrash: "retry", completion: 2 },
    { key: "a", completion: 1, result: "done" },
    { key: "m", state: "started" },
  ])
  expect(await store.messages("newest" as SessionId, 2, 10)).toMatchObject([{ position: 3, body: "three" }])
  expect(await store.checkIntegrity()).toEqual({ isHealthy: true, problems: [] })
})

const THIS_MINUTE = Math.floor(Date.now() / 60_000)

/** As programs of the ninth version write it. */
function insertSession(database: DatabaseSync, id: string, data: object): void {
  const insert = `INSERT INTO sessions (id, workspace, version, created_at, updated_at, updated_minute, message_count, data)
    VALUES (?, 'home', 1, 5, ?, ?, 0, ?)`
  database.prepare(insert).run(id, THIS_MINUTE * 60_000, THIS_MINUTE, JSON.stringify(data))
}

/** Writes a store as the ninth version left it, and returns the connection of a program of that version. */
function writeNinthVersion(): DatabaseSync {
  const database = new DatabaseSync(path)
  database.exec(`PRAGMA journal_mode = WAL; ${MIGRATIONS.slice(0, 9).join(";")};
    PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 9`)
  insertSession(database, "main", { name: "main", model: "", parent: null })
  insertSession(database, "below", { name: "below", model: "", parent: "main" })
  insertSession(database, "odd", { parent: 7, title: "\u0000 \ud800" })
  return database
}

test("a store of the ninth version is migrated with its sessions, each below its parent", async () => {
  writeNinthVersion().close()
  await using engine = await createEmbeddedEngine({ path })
  const { store } = engine
  const of = async (parent: string | null) =>
    (await store.sessions({ workspace, parent: parent as SessionId | null }, { limit: 10 })).items.map(({ id }) => id)
  expect([await of("main"), await of(null)]).toEqual([["below"], ["odd", "main"]])
  expect(await store.session("below" as SessionId)).toMatchObject({ parent: "main", metadata: {}, title: null })
  expect(await store.checkIntegrity()).toEqual({ isHealthy: true, problems: [] })
})

test("a program of the ninth version that has the store open works beside one of this version", async () => {
  using earlier = writeNinthVersion()
  await using engine = await createEmbeddedEngine({ path })
  const { store } = engine
  insertSession(earlier, "late", { name: "late", model: "", parent: "below" })
  const below = await store.sessions({ workspace, parent: "below" as SessionId }, { limit: 10 })
  expect(below.items).toMatchObject([{ id: "late", parent: "below" }])
  const metadata = { userId: "anna" }
  for (const id of ["main", "odd"] as SessionId[]) await store.commit([{ op: "session.label", id, metadata }])
  const found = async () => (await store.sessions({ workspace, metadata }, { limit: 10 })).items.map(({ id }) => id)
  expect(await found()).toEqual(["odd", "main"])
  earlier.exec(`UPDATE sessions SET updated_minute = ${THIS_MINUTE + 1} WHERE id = 'main'`)
  earlier.exec(`UPDATE sessions SET updated_at = ${(THIS_MINUTE + 1) * 60_000}, version = 2 WHERE id = 'main'`)
  expect(await found()).toEqual(["main", "odd"])
  earlier.exec("DELETE FROM sessions WHERE id = 'odd'")
  expect(await found()).toEqual(["main"])
  expect(await store.checkIntegrity()).toEqual({ isHealthy: true, problems: [] })
})
