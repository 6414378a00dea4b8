import { expect, onTestFinished, test } from "vitest"
import { openDatabase } from "../../src/engine/postgres/connection/open-database.ts"
import { createTestDatabase } from "../../src/engine/postgres/test-server.ts"
import { runToEnd } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

const migrate = (...words: readonly string[]) =>
  runToEnd({ directory: createFolder(), arguments: ["migrate", ...words] })

/** Its name, and an empty database that it may use. */
async function createPlace() {
  const { url, drop } = await createTestDatabase({ isEmpty: true })
  const role = `member_${process.pid}_${Math.floor(performance.now())}`
  const database = await openDatabase({ url })
  await database.query(`CREATE ROLE ${role} LOGIN`)
  onTestFinished(async () => {
    await database.close()
    await drop()
  })
  return { url, role, roleUrl: url.replace("postgres@", `${role}@`) }
}

test("a store is brought to this version once, and a role may use it that may not change its tables", async () => {
  const { url, role, roleUrl } = await createPlace()
  const tasks = () => runToEnd({ directory: createFolder(), arguments: ["tasks", "--engine", roleUrl] })
  const before = await tasks()
  expect(before.exitCode).toBe(2)
  expect(before.stderr).toMatch(/meanwhile migrate/)

  const first = await migrate("--engine", url)
  expect(first).toMatchObject({ exitCode: 0, stdout: `${url} was brought to this version.\n` })
  const again = await migrate("--engine", url, "--grant", role)
  const unchanged = `${url} has this version already: nothing was changed.\nThe role ${role} may use it.\n`
  expect(again).toMatchObject({ exitCode: 0, stdout: unchanged })
  expect(await tasks()).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^No tasks yet/) })
})

test("a role that does not exist is told of", async () => {
  const { url } = await createPlace()
  const { exitCode, stderr } = await migrate("--engine", url, "--grant", "nobody-there")
  expect(exitCode).toBe(2)
  expect(stderr).toMatch(/There is no role "nobody-there".*CREATE ROLE/)
  const odd = await migrate("--engine", url, "--grant", 'x"; drop')
  expect(odd).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('(CREATE ROLE "x""; drop" LOGIN)') })
  const none = await migrate("--engine", url, "--grant", "")
  expect(none).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringContaining("Name the role") })
})

test("without a store on PostgreSQL it says what to give", async () => {
  for (const words of [[], ["--grant", "somebody"]])
    expect(await migrate(...words)).toMatchObject({
      exitCode: 2,
      stdout: "",
      stderr: expect.stringMatching(/--engine postgres:.*MEANWHILE_ENGINE/),
    })
})
