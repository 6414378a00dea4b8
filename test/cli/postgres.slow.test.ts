import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { createTestDatabase } from "../support/postgres/server.ts"
import { runToEnd, startPiped } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

const SECRET = "hunter2"

async function createDatabase(isEmpty = false): Promise<string> {
  const { url, drop } = await createTestDatabase({ isEmpty })
  onTestFinished(drop)
  return url
}

const withPassword = (url: string): string => url.replace("postgres@", `postgres:${SECRET}@`)

test("a chat, tasks and the ledger use the store that --engine names, whatever folder they are in", async () => {
  const engine = await createDatabase()
  const chat = startPiped({ directory: createFolder(), arguments: ["--engine", engine] })
  chat.type("/start echo begun; exit 3")
  const ended = (await chat.shows(/\[[0-9a-f]{8}\] failed after/)).slice(1, 9)
  chat.type("/start sleep 1000")
  const live = (await chat.shows(/\[[0-9a-f]{8}\] is running/)).slice(1, 9)
  chat.type("say hello")
  await chat.shows(/hello\n/)

  const elsewhere = createFolder()
  const tasks = (...words: readonly string[]) =>
    runToEnd({ directory: elsewhere, arguments: ["tasks", ...words, "--engine", engine] })
  const listed = await tasks()
  expect(listed).toMatchObject({ exitCode: 0, stderr: "" })
  expect(listed.stdout).toMatch(new RegExp(`^${live} {2}running .*sleep 1000\\n${ended} {2}failed`))
  expect((await tasks("show", live)).stdout).toMatch(/status {4}running/)
  expect((await tasks("cancel", live)).exitCode).toBe(0)
  await chat.shows(new RegExp(`\\[${live}\\] cancelled after .* by person`))
  const ledger = await runToEnd({ directory: elsewhere, arguments: ["ledger", "--engine", engine] })
  expect(ledger.stdout).toContain("offline/rules")
  chat.endInput()
  expect(await chat.exited).toBe(0)

  expect(existsSync(join(elsewhere, ".meanwhile"))).toBe(false)
  const ownStore = await runToEnd({ directory: elsewhere, arguments: ["tasks"] })
  expect(ownStore.stdout).toMatch(/^No tasks yet/)
})

test("the flag goes before the variable, and the variable before the configuration", async () => {
  const [first, second, third] = await Promise.all([createDatabase(), createDatabase(), createDatabase()])
  const directory = createFolder()
  const config = `export default { engine: ${JSON.stringify(withPassword(third))} }`
  writeFileSync(join(directory, "meanwhile.config.ts"), config)
  await runToEnd({ directory, arguments: ["trust"] })
  const run = (words: readonly string[], environment = {}) =>
    runToEnd({ directory, arguments: ["run", "say it", ...words], environment })
  const countTurns = async (engine: string) =>
    (await runToEnd({ directory: createFolder(), arguments: ["tasks", "list", "--all", "--engine", engine] })).stdout
      .split("\n")
      .filter((line) => line.includes("completed")).length

  expect(await run(["--engine", first], { MEANWHILE_ENGINE: second })).toMatchObject({ exitCode: 0, stdout: "it\n" })
  expect(await Promise.all([first, second, third].map(countTurns))).toEqual([1, 0, 0])
  await run([], { MEANWHILE_ENGINE: withPassword(second) })
  expect(await Promise.all([first, second, third].map(countTurns))).toEqual([1, 1, 0])
  await run([])
  expect(await Promise.all([first, second, third].map(countTurns))).toEqual([1, 1, 1])
  const { stdout } = await runToEnd({ directory, arguments: ["tasks", "list", "--all"] })
  expect(stdout).toMatch(/completed/)
})

test("a password is refused in a flag, and shown nowhere", async () => {
  const url = withPassword(await createDatabase())
  const nowhere = `postgres://me:${SECRET}@127.0.0.1:1/work`
  const attempts = [
    { arguments: ["--engine", url] },
    { arguments: ["run", "hello", "--engine", url] },
    { arguments: ["tasks", "--engine", url] },
    { arguments: ["tasks", "--engine", `${url.replace(`:${SECRET}@`, "@")}?sslpassword=${SECRET}`] },
    { arguments: ["worker", "--engine", `${url}@`] },
    { arguments: ["tasks"], environment: { MEANWHILE_ENGINE: nowhere } },
    { arguments: ["migrate"], environment: { MEANWHILE_ENGINE: nowhere } },
    { arguments: ["worker"], environment: { MEANWHILE_ENGINE: `postgres://me:1/${SECRET}@host/work` } },
    { arguments: ["tasks"], environment: { MEANWHILE_ENGINE: `mysql://me:${SECRET}@host/work` } },
  ]
  const refuse = async (attempt: (typeof attempts)[number]) => {
    const { exitCode, stdout, stderr } = await runToEnd({ directory: createFolder(), ...attempt })
    expect(exitCode, attempt.arguments.join(" ")).toBe(2)
    expect(`${stdout}${stderr}`).toMatch(/^meanwhile: .*(?:--engine|MEANWHILE_ENGINE|127\.0\.0\.1:1\/work)/ms)
    expect(`${stdout}${stderr}`).not.toContain(SECRET)
  }
  // All at once, since two of them wait for a server.
  await Promise.all(attempts.map(refuse))
})

test("commands see neither the store's URL nor its password", async () => {
  const { stdout } = await runToEnd({
    directory: createFolder(),
    arguments: ["run", "--yes", "run `env`"],
    environment: { MEANWHILE_ENGINE: withPassword(await createDatabase()), PGPASSWORD: "hunter3" },
  })
  expect(stdout).toContain("PATH=")
  expect(stdout).not.toMatch(/MEANWHILE_ENGINE|PGPASSWORD|hunter/)
})

test("the doctor says which server and tables it finds", async () => {
  const directory = createFolder()
  const engine = await createDatabase(true)
  const look = async (environment: Readonly<Record<string, string>>) => {
    const { exitCode, stdout } = await runToEnd({ directory, arguments: ["doctor"], environment })
    expect(stdout).not.toContain(SECRET)
    return { exitCode, stdout }
  }
  const environment = { MEANWHILE_ENGINE: withPassword(engine) }
  const shown = engine.replace(/\?.*/, "")
  // Begun first, since the doctor waits for a server that is away.
  const looksAtGone = look({ MEANWHILE_ENGINE: `postgres://me:${SECRET}@127.0.0.1:1/work` })
  const fresh = await look(environment)
  expect(fresh.exitCode).toBe(0)
  expect(fresh.stdout).toMatch(new RegExp(`warning +engine +PostgreSQL [\\d.]+ at ${shown} does not have the tables`))
  await runToEnd({ directory, arguments: ["migrate"], environment })
  expect((await look(environment)).stdout).toMatch(/ok +engine +PostgreSQL .* with the tables of this version/)
  const gone = await looksAtGone
  expect(gone.exitCode).toBe(1)
  expect(gone.stdout).toMatch(/PROBLEM +engine +The store at 127\.0\.0\.1:1\/work cannot be reached/)
})
