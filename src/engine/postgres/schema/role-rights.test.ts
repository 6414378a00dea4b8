import { beforeAll, expect, onTestFinished, test } from "vitest"
import { openDatabase } from "../connection/open-database.ts"
import { lookAtStore, migrateStore } from "./migrate-store.ts"
import { createTestDatabase } from "../../../../test/support/postgres/server.ts"

beforeAll(async () => {
  // The first to ask waits until there is a server.
  await using _ = await createTestDatabase({ isEmpty: true })
})

/** A database, and the URL of a role in it that may connect and nothing else. */
async function createPlace({ isEmpty }: { readonly isEmpty: boolean }) {
  const { url, drop } = await createTestDatabase({ isEmpty })
  const role = `looker_${process.pid}_${Math.floor(performance.now())}`
  const database = await openDatabase({ url, poolSize: 1 })
  await database.query(`CREATE ROLE ${role} LOGIN`)
  onTestFinished(async () => {
    await database.close()
    await drop()
  })
  return { url, role, database, roleUrl: url.replace("postgres@", `${role}@`) }
}

const toCommand = (url: string, role: string) => `meanwhile migrate --engine ${url} --grant ${role}`

test("a role that may not make the tables of an empty database lacks just that", async () => {
  const { url, role, roleUrl } = await createPlace({ isEmpty: true })
  expect(await lookAtStore({ url })).toMatchObject({ isCurrent: false, lacking: null })
  expect(await lookAtStore({ url: roleUrl })).toMatchObject({
    isCurrent: false,
    lacking: {
      cause: expect.stringContaining(`the role ${role} may not create or change them`),
      fix: expect.stringContaining(toCommand(url, role)),
    },
  })
})

test("a role that may read the tables and not write them lacks that, until the store is given to it", async () => {
  const { url, role, database, roleUrl } = await createPlace({ isEmpty: false })
  for (const schema of ["meanwhile", "meanwhile_queue"])
    await database.query(
      `GRANT USAGE ON SCHEMA ${schema} TO ${role}; GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${role}`,
    )
  expect(await lookAtStore({ url: roleUrl })).toMatchObject({
    isCurrent: true,
    lacking: {
      cause: expect.stringContaining(`the role ${role} lacks INSERT, UPDATE, DELETE on the table meanwhile.`),
      fix: expect.stringContaining(toCommand(url, role)),
    },
  })
  await migrateStore({ url, grantTo: role })
  expect(await lookAtStore({ url: roleUrl })).toMatchObject({ isCurrent: true, lacking: null })
})
