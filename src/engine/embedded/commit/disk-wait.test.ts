import { appendFile } from "node:fs/promises"
import { DatabaseSync } from "node:sqlite"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { createTask, QUEUED, sampleDetails } from "../../suite/samples.ts"
import { createDiskWait, type DiskWait } from "./disk-wait.ts"
import { createEmbeddedEngine } from "../engine.ts"
import { createFolder } from "../../../../test/support/embedded/store.ts"

let path: string
let remove: () => Promise<void>

beforeEach(async () => {
  ;({ path, remove } = await createFolder())
})

afterEach(() => remove())

const LEVELS = ["off", "normal", "full"]

/** A disk whose flushes are collected in `asked`. A flush ends when its entry is called. */
function createDisk() {
  const asked: ((isOnDisk: boolean) => void)[] = []
  return {
    asked,
    flush: { handOver: () => new Promise<boolean>((resolve) => asked.push(resolve)), close: () => {} },
  }
}

function commit(wait: DiskWait, waitsForDisk: boolean): void {
  wait.choose(waitsForDisk)
  wait.beforeCommit()
  wait.committed()
}

/** The number of pages in the log. SQLite waits for the disk if a commit has added pages. */
function countLogged(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA wal_checkpoint(NOOP)").get()?.["log"])
}

describe("a store whose commits wait for the disk", () => {
  let database: DatabaseSync
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    database = new DatabaseSync(path)
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
  })

  afterEach(() => {
    database.close()
    vi.useRealTimers()
  })

  const level = () => LEVELS[Number(database.prepare("PRAGMA synchronous").get()?.["synchronous"])]

  test("waits with each commit except those whose writers need not", () => {
    const wait = createDiskWait(database, "full", createDisk().flush)
    const levels = [true, false, false, true].map((waitsForDisk) => {
      wait.choose(waitsForDisk)
      return level()
    })
    expect(levels).toEqual(["full", "normal", "normal", "full"])
  })

  test("flushes soon after a commit that did not wait", () => {
    const { asked, flush } = createDisk()
    commit(createDiskWait(database, "full", flush), false)
    expect(asked).toHaveLength(0)
    vi.advanceTimersByTime(5)
    expect(asked).toHaveLength(1)
  })

  test("flushes nothing if a commit that waits has followed", () => {
    const { asked, flush } = createDisk()
    const wait = createDiskWait(database, "full", flush)
    commit(wait, false)
    commit(wait, true)
    vi.advanceTimersByTime(5)
    expect(asked).toHaveLength(0)
  })

  test("gives a later commit that did not wait the same time to be followed", () => {
    const { asked, flush } = createDisk()
    const wait = createDiskWait(database, "full", flush)
    commit(wait, false)
    commit(wait, true)
    vi.advanceTimersByTime(4)
    commit(wait, false)
    vi.advanceTimersByTime(4)
    expect(asked).toHaveLength(0)
    vi.advanceTimersByTime(1)
    expect(asked).toHaveLength(1)
  })

  test("flushes again for a commit that did not wait while the disk was busy", async () => {
    const { asked, flush } = createDisk()
    const wait = createDiskWait(database, "full", flush)
    commit(wait, false)
    vi.advanceTimersByTime(5)
    commit(wait, false)
    vi.advanceTimersByTime(5)
    expect(asked).toHaveLength(1)
    asked[0]?.(true)
    await vi.waitFor(() => expect(asked).toHaveLength(2), 30_000)
  })

  test("makes a commit that waits and changes nothing wait for earlier commits that did not", () => {
    const wait = createDiskWait(database, "full", createDisk().flush)
    commit(wait, true)
    expect(countLogged(database)).toBe(0)
    commit(wait, false)
    commit(wait, true)
    expect(countLogged(database)).toBe(1)
    commit(wait, true)
    expect(countLogged(database)).toBe(1)
  })

  test("makes such a commit wait for a flush that is under way, too", () => {
    const { asked, flush } = createDisk()
    const wait = createDiskWait(database, "full", flush)
    commit(wait, false)
    vi.advanceTimersByTime(5)
    expect(asked).toHaveLength(1)
    commit(wait, true)
    expect(countLogged(database)).toBe(1)
  })

  test("makes such a commit wait for commits whose flush has failed", async () => {
    const { asked, flush } = createDisk()
    const wait = createDiskWait(database, "full", flush)
    commit(wait, false)
    vi.advanceTimersByTime(5)
    asked[0]?.(false)
    await new Promise((resolve) => setImmediate(resolve))
    expect(asked).toHaveLength(1)
    commit(wait, true)
    expect(countLogged(database)).toBe(1)
  })

  test("has a task on the disk before a commit answers that it exists already", async () => {
    await using engine = await createEmbeddedEngine({ path })
    const create = { op: "task.create", details: sampleDetails({ idempotencyKey: "once" }), entry: QUEUED } as const
    await engine.store.commit([create], { waitsForDisk: false })
    const left = countLogged(database)
    const [{ created }] = await engine.store.commit([create])
    expect(created).toBe(false)
    expect(countLogged(database)).toBe(left + 1)
  })

  test("is not closed before the disk has every commit", async () => {
    const { asked, flush } = createDisk()
    const wait = createDiskWait(database, "full", flush)
    commit(wait, false)
    let isClosed = false
    const closing = wait.close().then(() => (isClosed = true))
    expect(asked).toHaveLength(1)
    await Promise.resolve()
    expect(isClosed).toBe(false)
    asked[0]?.(true)
    await closing
  })
})

test("a store whose commits never wait flushes its log from time to time, loses nothing, and leaves no log", async () => {
  const engine = await createEmbeddedEngine({ path, synchronous: "normal" })
  for (let count = 0; count < 450; count++) await createTask(engine)
  await engine.close()
  await expect(appendFile(`${path}-wal`, "", { flag: "r+" })).rejects.toThrow("ENOENT")
  await using again = await createEmbeddedEngine({ path, synchronous: "normal" })
  expect(await again.store.countTasks({})).toBe(450)
})
