import { beforeAll, expect, onTestFinished, test } from "vitest"
import { createRuntime } from "../../src/app.ts"
import { openDatabase } from "../../src/engine/postgres/connection/open-database.ts"
import { createTestDatabase } from "../support/postgres/server.ts"
import { examineServer } from "../../src/program/engine.ts"
import { createFolder } from "../support/workplace.ts"

beforeAll(async () => {
  // The first request waits until the server has started.
  await using _ = await createTestDatabase({ isEmpty: true })
})

let roles = 0

/** A database prepared by SQL, and its URL for a role that was made for it. */
async function createPlace(isEmpty: boolean, toStatements: (role: string, database: string) => readonly string[]) {
  const { url, drop } = await createTestDatabase({ isEmpty })
  const role = `patient_${process.pid}_${++roles}`
  const database = await openDatabase({ url, poolSize: 1 })
  onTestFinished(drop)
  const name = new URL(url).pathname.slice(1)
  for (const statement of [`CREATE ROLE ${role} LOGIN`, ...toStatements(role, name)]) await database.query(statement)
  await database.close()
  return { url, roleUrl: url.replace("postgres@", `${role}@`) }
}

const SCHEMAS = ["meanwhile", "meanwhile_queue"]
const mayRead = (role: string) =>
  SCHEMAS.map(
    (schema) => `GRANT USAGE ON SCHEMA ${schema} TO ${role}; GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${role}`,
  )
const READ_ONLY = (name: string) => `ALTER DATABASE ${name} SET default_transaction_read_only TO on`
const NEWER = "INSERT INTO meanwhile.store_versions (version, usable_from) VALUES (1000, 1000)"

const PLACES = [
  { what: "a store that is as it should be", isEmpty: false, by: "owner", statements: () => [], status: "ok" },
  { what: "an empty database", isEmpty: true, by: "owner", statements: () => [], status: "warning" },
  { what: "an empty database without rights", isEmpty: true, by: "role", statements: () => [], status: "problem" },
  { what: "tables that cannot be read", isEmpty: false, by: "role", statements: () => [], status: "problem" },
  { what: "tables that can only be read", isEmpty: false, by: "role", statements: mayRead, status: "problem" },
  {
    what: "a server that takes no writes",
    isEmpty: false,
    by: "owner",
    statements: (_role: string, name: string) => [READ_ONLY(name)],
    status: "problem",
  },
  { what: "a newer store", isEmpty: false, by: "owner", statements: () => [NEWER], status: "problem" },
] as const

test.each(PLACES)("$what is a problem exactly when a start is refused", async ({ isEmpty, by, statements, status }) => {
  const place = await createPlace(isEmpty, statements)
  const url = by === "owner" ? place.url : place.roleUrl
  expect(await examineServer(url)).toMatchObject([{ check: "engine", status }])
  const started = createRuntime({ engine: url, dataDirectory: createFolder() }).then(async (runtime) => {
    await runtime.close()
    return "started"
  })
  expect(await started.catch(() => "refused")).toBe(status === "problem" ? "refused" : "started")
})
