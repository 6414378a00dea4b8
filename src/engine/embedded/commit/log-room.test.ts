import { copyFileSync, mkdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterEach, beforeEach, expect, test } from "vitest"
import { createTask } from "../../suite/samples.ts"
import { createEmbeddedEngine } from "../engine.ts"
import { createLogRoom } from "./disk-wait.ts"
import { createFolder } from "../../../../test/support/embedded/store.ts"

let path: string
let remove: () => Promise<void>

beforeEach(async () => {
  ;({ path, remove } = await createFolder())
})

afterEach(() => remove())

/** The length of the log's file, and how much of it was written. */
function readLog() {
  const log = readFileSync(`${path}-wal`)
  return { bytes: log.length, writtenBytes: log.findLastIndex((byte) => byte !== 0) + 1 }
}

test("commits write into a log that was extended before them", async () => {
  await using engine = await createEmbeddedEngine({ path })
  const lengths = new Set<number>()
  for (let count = 0; count < 60; count++) {
    await createTask(engine)
    lengths.add(readLog().bytes)
  }
  expect(lengths.size).toBeLessThan(12)
})

test("a program that writes little leaves little room", async () => {
  await using engine = await createEmbeddedEngine({ path })
  await createTask(engine)
  const { bytes, writtenBytes } = readLog()
  expect(bytes).toBeLessThanOrEqual(2 * writtenBytes)
})

test("a program that dies after it made room leaves a store with all it had answered", async () => {
  await using engine = await createEmbeddedEngine({ path })
  for (let count = 0; count < 60; count++) await createTask(engine)
  expect(readLog().bytes).toBeGreaterThan(readLog().writtenBytes)
  const copy = join(dirname(path), "left", "store.sqlite")
  mkdirSync(dirname(copy))
  copyFileSync(path, copy)
  copyFileSync(`${path}-wal`, `${copy}-wal`)
  await using next = await createEmbeddedEngine({ path: copy })
  expect(await next.store.countTasks({})).toBe(60)
  await createTask(next)
  expect(await next.store.countTasks({})).toBe(61)
  expect(await next.store.checkIntegrity()).toEqual({ isHealthy: true, problems: [] })
})

test("no room is made in a log that another program has emptied, or beyond the length at which it is folded in", async () => {
  await using engine = await createEmbeddedEngine({ path })
  for (let count = 0; count < 10; count++) await createTask(engine)
  using other = new DatabaseSync(path)
  other.exec("PRAGMA wal_checkpoint(TRUNCATE)")
  expect(readLog().bytes).toBe(0)
  for (let count = 0; count < 10; count++) await createTask(engine)
  expect(await engine.store.checkIntegrity()).toEqual({ isHealthy: true, problems: [] })
  expect(await engine.store.countTasks({})).toBe(20)

  other.exec("PRAGMA wal_autocheckpoint = 10; BEGIN IMMEDIATE")
  const room = createLogRoom(other, path)
  const { bytes } = readLog()
  for (let count = 0; count < 5; count++) room.make()
  expect(readLog().bytes).toBe(2 * bytes)
  other.exec("ROLLBACK")
  room.close()
})

test("a log that cannot be extended is no error", () => {
  using database = new DatabaseSync(":memory:")
  const room = createLogRoom(database, join(path, "nowhere"))
  expect(() => room.make()).not.toThrow()
  expect(() => room.close()).not.toThrow()
})
