import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { createTask, RUNNING } from "../suite/samples.ts"
import { expectRefusal } from "../suite/subject.ts"
import { createEmbeddedEngine } from "./engine.ts"
import { migrate, STORE_VERSION } from "./schema/migrations.ts"
import { openDatabase } from "./open.ts"
import { createFolder } from "../../../test/support/embedded/store.ts"

let path: string
let remove: () => Promise<void>

beforeEach(async () => {
  ;({ path, remove } = await createFolder())
})

afterEach(() => remove())

async function writeStore(): Promise<void> {
  await using engine = await createEmbeddedEngine({ path })
  for (let count = 0; count < 20; count++) await createTask(engine, RUNNING)
}

/** Expects that opening is refused with this code, and leaves the file as it was, byte for byte. */
async function expectUntouched(code: Parameters<typeof expectRefusal>[1]): Promise<void> {
  const before = readFileSync(path)
  await expectRefusal(createEmbeddedEngine({ path }), code)
  expect(readFileSync(path).equals(before)).toBe(true)
}

describe("opening a store", () => {
  test("creates it and its folder for their owner alone", async () => {
    path = join(dirname(path), "deep", "er", "store.sqlite")
    await using engine = await createEmbeddedEngine({ path })
    await createTask(engine)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(`${path}-wal`).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
    expect(engine.name).toBe("embedded")
  })

  test("works for many at once, also when it does not exist yet", async () => {
    const engines = await Promise.all(Array.from({ length: 8 }, () => createEmbeddedEngine({ path })))
    await Promise.all(engines.map((engine) => createTask(engine)))
    expect(await engines[0]?.store.countTasks({})).toBe(8)
    await Promise.all(engines.map((engine) => engine.close()))
  })

  test("goes on where a process died before it had made the first table", async () => {
    const database = new DatabaseSync(path)
    database.exec("PRAGMA journal_mode = WAL")
    database.close()
    expect(statSync(path).size).toBeGreaterThan(0)
    await using engine = await createEmbeddedEngine({ path })
    expect((await engine.store.checkIntegrity()).isHealthy).toBe(true)
  })

  test("an empty file is a store with nothing in it", async () => {
    writeFileSync(path, "")
    await using engine = await createEmbeddedEngine({ path })
    expect(await engine.store.countTasks({})).toBe(0)
  })

  for (const synchronous of ["full", "normal"] as const)
    test(`writes as durably as "${synchronous}" says`, async () => {
      await using engine = await createEmbeddedEngine({ path, synchronous })
      expect((await createTask(engine)).status).toBe("queued")
    })

  test.each([
    { synchronous: "full", level: 2 },
    { synchronous: "normal", level: 1 },
  ] as const)("$synchronous: asks SQLite for that level from the first commit on", async ({ synchronous, level }) => {
    const database = await openDatabase({ path, synchronous })
    expect(database.prepare("PRAGMA synchronous").get()).toEqual({ synchronous: level })
    database.close()
  })
})

describe("a store that must not be touched", () => {
  test("was written by a newer version", async () => {
    await writeStore()
    const database = new DatabaseSync(path)
    database.exec(`PRAGMA user_version = ${STORE_VERSION + 1}`)
    database.close()
    await expectUntouched("store_newer")
  })

  test("was written by a newer version that crashed before its log was folded in", async () => {
    await writeStore()
    const database = new DatabaseSync(path)
    database.exec(`PRAGMA user_version = ${STORE_VERSION + 1}`)
    const log = readFileSync(`${path}-wal`)
    const file = readFileSync(path)
    database.close()
    writeFileSync(path, file)
    writeFileSync(`${path}-wal`, log)
    await expectUntouched("store_newer")
    expect(readFileSync(`${path}-wal`).equals(log)).toBe(true)
  })

  test("became newer after it was looked at and before it could be migrated", async () => {
    await writeStore()
    const database = new DatabaseSync(path)
    database.exec(`PRAGMA user_version = ${STORE_VERSION + 1}`)
    expect(() => migrate(database, path)).toThrow(expect.objectContaining({ code: "store_newer" }))
    expect(database.isTransaction).toBe(false)
    expect(database.prepare("PRAGMA user_version").get()).toEqual({ user_version: STORE_VERSION + 1 })
    database.close()
  })

  test("is a database of another program", async () => {
    const database = new DatabaseSync(path)
    database.exec("CREATE TABLE songs (title TEXT); INSERT INTO songs VALUES ('x')")
    database.close()
    await expectUntouched("store_damaged")
  })

  test("is not a database at all", async () => {
    writeFileSync(path, "{}\n".repeat(500))
    await expectUntouched("store_damaged")
  })

  test("is too short to be anything", async () => {
    writeFileSync(path, "SQLite format 3\0")
    await expectUntouched("store_damaged")
  })

  test("has a damaged header", async () => {
    await writeStore()
    const bytes = readFileSync(path)
    bytes.fill(0xff, 16, 64)
    writeFileSync(path, bytes)
    await expectUntouched("store_damaged")
  })

  test("has lost its end", async () => {
    await writeStore()
    truncateSync(path, statSync(path).size - 5_000)
    await expectUntouched("store_damaged")
  })

  test("was emptied while a log of its changes exists", async () => {
    await using engine = await createEmbeddedEngine({ path })
    await createTask(engine)
    const log = readFileSync(`${path}-wal`)
    const copy = join(dirname(path), "copy.sqlite")
    writeFileSync(copy, "")
    writeFileSync(`${copy}-wal`, log)
    await expectRefusal(createEmbeddedEngine({ path: copy }), "store_damaged")
    expect(readFileSync(`${copy}-wal`).equals(log)).toBe(true)
  })

  test("has a damaged table of contents", async () => {
    await writeStore()
    const bytes = readFileSync(path)
    bytes.fill(0xaa, 100, 4_000)
    writeFileSync(path, bytes)
    await expectUntouched("store_damaged")
  })
})

describe("a path that cannot be a store", () => {
  test("is a folder", async () => {
    await mkdir(path)
    await expectRefusal(createEmbeddedEngine({ path }), "store_unavailable")
  })

  test.runIf(existsSync("/proc/self"))("lies where no folder can be made", async () => {
    await expectRefusal(createEmbeddedEngine({ path: "/proc/meanwhile/a/store.sqlite" }), "store_unavailable")
  })

  test("lies below a file", async () => {
    writeFileSync(path, "x")
    await expectRefusal(createEmbeddedEngine({ path: join(path, "store.sqlite") }), "store_unavailable")
  })
})

describe("the integrity check", () => {
  test("finds a page that was overwritten", async () => {
    await writeStore()
    const bytes = readFileSync(path)
    bytes.fill(0, 8_192, 12_000)
    writeFileSync(path, bytes)
    await using engine = await createEmbeddedEngine({ path }).catch(() => undefined)
    const health = await engine?.store.checkIntegrity().catch(() => ({ isHealthy: false, problems: ["unreadable"] }))
    expect(health?.isHealthy ?? false).toBe(false)
  })

  test("finds states that no operation can produce", async () => {
    await writeStore()
    const database = new DatabaseSync(path, { enableForeignKeyConstraints: false })
    database.exec("DELETE FROM events WHERE place = 1 << 32 | 1; DELETE FROM tasks WHERE number = 2")
    database.exec(
      "UPDATE tasks SET status = 'completed' WHERE number = 3; UPDATE tasks SET status = 'waiting' WHERE number = 4",
    )
    database.exec("UPDATE tasks SET last_sequence = 9 WHERE number = 5")
    database.close()
    await using engine = await createEmbeddedEngine({ path })
    const { isHealthy, problems } = await engine.store.checkIntegrity()
    expect(isHealthy).toBe(false)
    const text = problems.join("\n")
    for (const part of ["gap", "does not exist", "no end", "waits for nothing", "do not end at 9"])
      expect(text).toContain(part)
  })
})
