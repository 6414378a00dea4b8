import pg from "pg"
import { expect, onTestFinished, test } from "vitest"
import { STORE_VERSION } from "../../src/engine/postgres/schema/migrations.ts"
import { createTestDatabase } from "../support/postgres/server.ts"
import { createFolder } from "../support/workplace.ts"
import { startChild } from "../support/chaos/child.ts"
import { KEPT_WORKERS } from "../support/chaos/kept-workers.ts"

async function readVersion(url: string): Promise<number> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const { rows } = await client.query<{ version: number }>(
      "SELECT max(version) AS version FROM meanwhile.store_versions",
    )
    return Number(rows[0]?.version)
  } finally {
    await client.end()
  }
}

test.each([
  ["first schema", 1],
  ["previous schema", STORE_VERSION - 1],
] as const)("the kept worker of the %s makes a store of version %i", async (name, version) => {
  const { url, drop } = await createTestDatabase({ isEmpty: true })
  onTestFinished(drop)
  const directory = createFolder()
  const environment = { MEANWHILE_ENGINE: url }
  const child = startChild({ program: KEPT_WORKERS[name], parameters: [directory, "1", "1"], directory, environment })
  onTestFinished(() => child.kill())
  await child.said('"ready"')
  expect(await readVersion(url), "bundle the last worker of the schema before the newest").toBe(version)
})
