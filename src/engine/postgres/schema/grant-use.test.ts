import { beforeAll, expect, onTestFinished, test } from "vitest"
import { openDatabase } from "../connection/open-database.ts"
import { migrateStore } from "./migrate-store.ts"
import { createTestDatabase } from "../../../../test/support/postgres/server.ts"

beforeAll(async () => {
  // The first to ask waits until there is a server.
  await using _ = await createTestDatabase({ isEmpty: true })
})

let roles = 0

/** An empty database of the superuser, and a role that owns what it makes in it. */
async function createPlace() {
  const { url, drop } = await createTestDatabase({ isEmpty: true })
  const database = await openDatabase({ url, poolSize: 1 })
  onTestFinished(async () => {
    await database.close()
    await drop()
  })
  const name = new URL(url).pathname.slice(1)
  const toUrl = (role: string): string => url.replace("postgres@", `${role}@`)
  const createRole = async (): Promise<string> => {
    const role = `granted_${process.pid}_${Math.floor(performance.now())}_${roles++}`
    await database.query(`CREATE ROLE ${role} LOGIN`)
    return role
  }
  const owner = await createRole()
  await database.query(`GRANT CREATE, CONNECT ON DATABASE ${name} TO ${owner}`)
  return { url, name, database, toUrl, createRole, owner }
}

/** Uses the store as a program of this role would. */
async function use(url: string): Promise<void> {
  const database = await openDatabase({ url, poolSize: 1 })
  try {
    await database.query(
      "INSERT INTO meanwhile.documents VALUES ('home', 'notes', 'one', nextval('task_numbers'), 1, '{}')",
    )
  } finally {
    await database.close()
  }
}

test("a grant tells whether it was made now or was there before", async () => {
  const { toUrl, createRole, owner } = await createPlace()
  const member = await createRole()
  const grant = () => migrateStore({ url: toUrl(owner), grantTo: member })
  expect(await grant()).toEqual({ hasChanged: true, hasGranted: true })
  expect(await grant()).toEqual({ hasChanged: false, hasGranted: false })
  await use(toUrl(member))
})

test.for(["may use the store", "may not even use it"])(
  "a role that %s cannot give it, and is told who owns it",
  async (what) => {
    const { toUrl, database, createRole, owner } = await createPlace()
    const [granter, member] = [await createRole(), await createRole()]
    const grantTo = what === "may use the store" ? granter : undefined
    await migrateStore({ url: toUrl(owner), ...(grantTo && { grantTo }) })
    if (!grantTo)
      await database.query(
        `GRANT USAGE ON SCHEMA meanwhile, meanwhile_queue TO ${granter}; GRANT SELECT ON meanwhile.store_versions, meanwhile_queue.version TO ${granter}`,
      )
    await expect(migrateStore({ url: toUrl(granter), grantTo: member })).rejects.toMatchObject({
      code: "store_read_only",
      message: expect.stringMatching(
        new RegExp(
          `${member} may not use the store: it lacks USAGE on the schema meanwhile, and .*role ${granter} may not.* belongs to ${owner}: run \`meanwhile migrate --engine ${toUrl(owner)} --grant ${member}\``,
        ),
      ),
      details: { role: member, owner },
    })
    const left = await database.query("SELECT FROM pg_default_acl WHERE pg_get_userbyid(defaclrole) = $1", [granter])
    expect(left).toEqual([])
    await expect(use(toUrl(member))).rejects.toMatchObject({ name: "MeanwhileError" })
  },
)

test("a grant that is there already is not refused", async () => {
  const { toUrl, createRole, owner } = await createPlace()
  const member = await createRole()
  await migrateStore({ url: toUrl(owner), grantTo: member })
  expect(await migrateStore({ url: toUrl(member), grantTo: member })).toEqual({ hasChanged: false, hasGranted: false })
})

test("where not everybody may connect, the owner of the database lets the role in", async () => {
  const { url, name, database, toUrl, createRole } = await createPlace()
  const member = await createRole()
  await database.query(`REVOKE CONNECT ON DATABASE ${name} FROM PUBLIC`)
  expect(await migrateStore({ url, grantTo: member })).toEqual({ hasChanged: true, hasGranted: true })
  await use(toUrl(member))
})

test("a granter that may not let the role connect is told who may, and the other rights stay", async () => {
  const { name, database, toUrl, createRole, owner } = await createPlace()
  const member = await createRole()
  await database.query(`REVOKE CONNECT ON DATABASE ${name} FROM PUBLIC`)
  const statement = `GRANT CONNECT ON DATABASE ${name} TO "${member}"`
  await expect(migrateStore({ url: toUrl(owner), grantTo: member })).rejects.toMatchObject({
    code: "store_read_only",
    message: expect.stringContaining(`Run \`${statement}\` as postgres, who owns the database`),
  })
  await expect(use(toUrl(member))).rejects.toMatchObject({ name: "MeanwhileError" })
  await database.query(statement)
  await use(toUrl(member))
})

test("several grants at the same time all succeed", async () => {
  const { url, toUrl, createRole } = await createPlace()
  const members = await Promise.all(Array.from({ length: 4 }, createRole))
  await migrateStore({ url })
  await Promise.all(members.map((grantTo) => migrateStore({ url, grantTo })))
  for (const member of members) await migrateStore({ url: toUrl(member), grantTo: member })
})
