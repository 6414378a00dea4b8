import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { expect, test } from "vitest"
import { createRuntime } from "../../src/app.ts"
import { createEmbeddedEngine } from "../../src/engine/embedded/engine.ts"
import { createFolder } from "../support/workplace.ts"
import { playOutage, WHOLE } from "../support/session/outage-scenario.ts"

/** More than the scenario needs, and quickly filled. */
const maxPages = 2_000

test("a store that may not grow from the middle of a turn on loses nothing, and is told once", async () => {
  const dataDirectory = join(createFolder(), "data")
  mkdirSync(dataDirectory)
  const path = join(dataDirectory, "store.sqlite")
  const told: string[] = []
  const tell = (line: string): void => void told.push(line)
  const report = await playOutage({
    told,
    dataDirectory,
    open: async (options) =>
      createRuntime({ ...options, engine: await createEmbeddedEngine({ path, maxPages, tell }) }),
    refuse: async () => takeRoom(path),
    allow: async () => makeRoom(path),
  })
  expect(report).toEqual(WHOLE)
  expect(told).toEqual([
    expect.stringMatching(/the disk is full.*Waiting for it/),
    expect.stringMatching(/is back, after \d+ s/),
  ])
})

/** Leaves no page for anybody, as another program of the same quota does. */
function takeRoom(path: string): void {
  using database = openBeside(path)
  database.exec(`PRAGMA max_page_count = ${maxPages}; CREATE TABLE ballast (bytes BLOB)`)
  const insert = database.prepare("INSERT INTO ballast VALUES (zeroblob(?))")
  for (const bytes of [100_000, 1_000]) {
    const fill = (): never => {
      for (;;) insert.run(bytes)
    }
    expect(fill).toThrow("database or disk is full")
  }
}

function makeRoom(path: string): void {
  using database = openBeside(path)
  database.exec("DROP TABLE ballast")
}

const openBeside = (path: string): DatabaseSync => new DatabaseSync(path, { timeout: 30_000 })
