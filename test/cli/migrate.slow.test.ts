import { expect, onTestFinished, test } from "vitest"
import { openDatabase } from "../../src/engine/postgres/connection/open-database.ts"
import { createTestDatabase } from "../support/postgres/server.ts"
import { runToEnd } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

const migrate = (...words: readonly string[]) =>
  runToEnd({ directory: createFolder(), arguments: ["migrate", ...words] })

/** A role's name, and an empty database that the role may use. */
async function createPlace() {
  const { url, drop } = await createTestDatabase({ isEmpty: true })
  onTestFinished(drop)
  const role = await createRole(url)
  return { url, role, roleUrl: url.replace("postgres@", `${role}@`) }
}

async function createRole(url: string): Promise<string> {
  const role = `member_${process.pid}_${Math.floor(performance.now() * 1_000)}`
  const database = await openDatabase({ url })
  await database.query(`CREATE ROLE ${role} LOGIN`)
  await database.close()
  return role
}

test("a store is migrated to this version once, and a role that may not change its tables may use it", async () => {
  const { url, role, roleUrl } = await createPlace()
  const tasks = () => runToEnd({ directory: createFolder(), arguments: ["tasks", "--engine", roleUrl] })
  const command = ["--engine", url, "--grant", role]
  const before = await tasks()
  expect(before.exitCode).toBe(2)
  expect(before.stderr).toContain(`Run \`meanwhile migrate ${command.join(" ")}\``)

  const first = await migrate("--engine", url)
  expect(first).toMatchObject({ exitCode: 0, stdout: `${url} was brought to this version.\n` })
  const between = await tasks()
  expect(between).toMatchObject({ exitCode: 2, stdout: "" })
  expect(between.stderr).toContain(`Run \`meanwhile migrate ${command.join(" ")}\``)
  const again = await migrate(...command)
  const unchanged = `${url} has this version already: its tables were left as they are.\n`
  expect(again).toMatchObject({ exitCode: 0, stdout: `${unchanged}The role ${role} may use it now.\n` })
  expect(await tasks()).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^No tasks yet/) })
  const last = await migrate(...command)
  expect(last).toMatchObject({ exitCode: 0, stdout: `${unchanged}The role ${role} may use it, as before.\n` })
  const none = await migrate("--engine", url)
  expect(none).toMatchObject({ exitCode: 0, stdout: `${url} has this version already: nothing was changed.\n` })
})

test("a role that may use the store but not grant it to others is refused, with the name of the owner", async () => {
  const { url, role, roleUrl } = await createPlace()
  await migrate("--engine", url, "--grant", role)
  const other = await createRole(url)
  const { exitCode, stdout, stderr } = await migrate("--engine", roleUrl, "--grant", other)
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" })
  expect(stderr).toContain(`The role ${other} may not use the store`)
  expect(stderr).toContain(`It belongs to postgres: run \`meanwhile migrate --engine ${url} --grant ${other}\``)
})

test("a role that does not exist is refused by name", async () => {
  const { url } = await createPlace()
  const { exitCode, stderr } = await migrate("--engine", url, "--grant", "nobody-there")
  expect(exitCode).toBe(2)
  expect(stderr).toMatch(/There is no role "nobody-there".*CREATE ROLE/)
  const odd = await migrate("--engine", url, "--grant", 'x"; drop')
  expect(odd).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('(CREATE ROLE "x""; drop" LOGIN)') })
  const none = await migrate("--engine", url, "--grant", "")
  expect(none).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringContaining("Name the role") })
})

test("without a store on PostgreSQL it says how to name one", async () => {
  for (const words of [[], ["--grant", "somebody"]])
    expect(await migrate(...words)).toMatchObject({
      exitCode: 2,
      stdout: "",
      stderr: expect.stringMatching(/--engine postgres:.*MEANWHILE_ENGINE/),
    })
})

test("the command that is shown to a role without rights holds no password, wherever the password came from", async () => {
  const { url, role, roleUrl } = await createPlace()
  const environment = { MEANWHILE_ENGINE: roleUrl.replace("@", ":hunter2@") }
  const { exitCode, stderr } = await runToEnd({ directory: createFolder(), arguments: ["tasks"], environment })
  expect(exitCode).toBe(2)
  expect(stderr).toContain(`\`meanwhile migrate --engine ${url} --grant ${role}\``)
  expect(stderr).not.toContain("hunter2")
})

test("a URL without a user is refused if the environment names none, and the refusal says how to write it", async () => {
  const { url } = await createPlace()
  const { exitCode, stderr } = await migrate("--engine", url.replace("postgres@", ""))
  expect(exitCode).toBe(2)
  expect(stderr).toBe(
    "meanwhile: The URL of the store names no user, and neither does the environment (PGUSER, USER). Write postgres://user@host/database.\n",
  )
})
