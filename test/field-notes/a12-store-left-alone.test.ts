import { createHash } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, test } from "vitest"
import { isMeanwhileError } from "../../src/base/error.ts"
import { echo } from "../support/tools.ts"
import { createFolder, openIn } from "../support/workplace.ts"

describe("A12. A record written by a newer version, or a damaged store, gives a clear error and is left untouched", () => {
  /** A store with a few hundred tasks in it, closed. */
  async function createStore() {
    const directory = createFolder()
    const meanwhile = await openIn(directory, { tools: [echo] })
    const started = Array.from({ length: 60 }, (_, value) => meanwhile.tasks.start({ tool: "echo", input: { value } }))
    const ids = (await Promise.all(started)).map(({ id }) => id)
    await Promise.all(ids.map((id) => meanwhile.tasks.result(id, { waitMs: 30_000 })))
    await meanwhile.close()
    return { directory, path: join(directory, "data", "store.sqlite"), ids }
  }

  async function expectRefused(directory: string, code: string, message: RegExp): Promise<void> {
    const before = toFingerprint(directory)
    const error: unknown = await openIn(directory, { tools: [echo] }).then(
      () => new Error("The store was opened."),
      (reason: unknown) => reason,
    )
    expect(error).toMatchObject({ code })
    expect(isMeanwhileError(error) && error.message).toMatch(message)
    expect(toFingerprint(directory)).toEqual(before)
  }

  test("a store of a newer version", async () => {
    const { directory, path } = await createStore()
    const newer = new DatabaseSync(path)
    newer.exec("PRAGMA user_version = 99")
    newer.close()
    await expectRefused(directory, "store_newer", /written by a newer Meanwhile.*left as it is; update Meanwhile/)
  })

  test("a store of a newer version whose last changes are still in its log", async () => {
    const { directory, path } = await createStore()
    const newer = new DatabaseSync(path)
    newer.exec("PRAGMA wal_autocheckpoint = 0; CREATE TABLE of_the_future (what); PRAGMA user_version = 99")
    // Copies the store as a crash leaves it, with the log beside the file. Closing would fold the log into the file.
    const copy = createFolder()
    mkdirSync(join(copy, "data"))
    for (const name of ["store.sqlite", "store.sqlite-wal"]) {
      writeFileSync(join(copy, "data", name), readFileSync(join(directory, "data", name)))
    }
    newer.close()
    await expectRefused(copy, "store_newer", /update Meanwhile/)
  })

  test("a file that is no database", async () => {
    const { directory, path } = await createStore()
    writeFileSync(path, "These are my notes. Do not lose them.\n".repeat(200))
    await expectRefused(directory, "store_damaged", /left as it is/)
  })

  test("a database of another program", async () => {
    const directory = createFolder()
    mkdirSync(join(directory, "data"))
    const other = new DatabaseSync(join(directory, "data", "store.sqlite"))
    other.exec("CREATE TABLE bookmarks (url); INSERT INTO bookmarks VALUES ('https://example.org')")
    other.close()
    await expectRefused(directory, "store_damaged", /another program/)
  })

  test("a store whose end is missing", async () => {
    const { directory, path } = await createStore()
    truncateSync(path, Math.floor(statSync(path).size / 2))
    await expectRefused(directory, "store_damaged", /damaged/)
  })

  test("a store of which only the header is left", async () => {
    const { directory, path } = await createStore()
    const bytes = readFileSync(path)
    bytes.fill(0xa5, 100)
    writeFileSync(path, bytes)
    await expectRefused(directory, "store_damaged", /damaged/)
  })

  test("a store that is damaged deep inside says so where the damage is met, and answers the rest", async () => {
    const { directory, path, ids } = await createStore()
    damagePagesOf(path, "tasks")
    const meanwhile = await openIn(directory, { tools: [echo] }).catch((error: unknown) => error)
    if (isMeanwhileError(meanwhile)) return expect(meanwhile).toMatchObject({ code: "store_damaged" })
    const { tasks, engine } = meanwhile as Awaited<ReturnType<typeof openIn>>
    const answers = await Promise.allSettled(ids.map((id) => tasks.get(id)))
    const refusals = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason as unknown] : []))
    expect(refusals.length).toBeGreaterThan(0)
    for (const error of refusals) expect(error).toMatchObject({ code: "store_damaged" })
    const health = await engine.store.checkIntegrity()
    expect(health.isHealthy).toBe(false)
    expect(health.problems.length).toBeGreaterThan(0)
  })
})

/** Every file of the data folder with a hash of its bytes; `-shm` is memory that processes share, and holds no data. */
function toFingerprint(directory: string): Record<string, string> {
  const data = join(directory, "data")
  return Object.fromEntries(
    readdirSync(data)
      .filter((name) => !name.endsWith("-shm"))
      .toSorted()
      .map((name) => [
        name,
        createHash("sha256")
          .update(readFileSync(join(data, name)))
          .digest("hex"),
      ]),
  )
}

/** Overwrites the leaves of a table, so that its rows cannot be read; the schema and other tables stay whole. */
function damagePagesOf(path: string, table: string): void {
  const database = new DatabaseSync(path)
  const { rootpage } = database
    .prepare("SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = ?")
    .get(table) as { rootpage: number }
  database.close()
  const pageBytes = readFileSync(path).readUInt16BE(16)
  const bytes = readFileSync(path)
  const root = (rootpage - 1) * pageBytes
  const isLeaf = bytes[root] === 0x0d
  const first = isLeaf ? rootpage : bytes.readUInt32BE(root + 8)
  bytes.fill(0xa5, (first - 1) * pageBytes, first * pageBytes)
  writeFileSync(path, bytes)
}
