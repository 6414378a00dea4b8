import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest"
import { createRuntime } from "../../src/app.ts"
import { createShellPlugin } from "../../src/builtin/shell/shell-plugin.ts"
import { openDatabase } from "../../src/engine/postgres/connection/open-database.ts"
import { startTestServer, type TestServer } from "../../src/engine/postgres/test-server.ts"
import { eventually } from "../support/eventually.ts"
import { isAlive } from "../support/processes.ts"
import { runToEnd, startInTerminal, startPiped } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

let server: TestServer

beforeAll(async () => {
  // What was committed is still there when it was killed.
  server = await startTestServer({ isDurable: true })
})

afterAll(() => server.stop())

const AWAY = /The store at \S+ cannot be reached[^]*It is waited for/
const BACK = /The store at \S+ is back, after \d+ s/

async function createStore(): Promise<string> {
  return (await server.createDatabase()).url
}

/** A worker that runs a command, in its folder. */
async function startWork(command: string) {
  const [url, folder] = [await createStore(), createFolder()]
  const shell = createShellPlugin({ workingDirectory: folder, environment: {} })
  const desk = await createRuntime({ engine: url, takesWork: false, dataDirectory: createFolder(), plugins: [shell] })
  onTestFinished(() => desk.close().catch(() => {}))
  const { id } = await desk.tasks.start({ tool: "run_command", input: { command } })
  const worker = startPiped({ directory: folder, arguments: ["worker", "--verbose", "--engine", url] })
  await worker.shows(/run taken/)
  return { desk, worker, id, folder }
}

function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8").trim() : ""
}

test("a chat says when its store goes away and is back, and what was typed meanwhile is taken up then", async () => {
  const chat = startInTerminal({ directory: createFolder(), arguments: ["--engine", await createStore()] })
  await chat.shows(/you talk with/)
  chat.type("say first")
  await chat.shows(/first\s[^]*tokens/)
  await server.kill()
  await chat.shows(AWAY)
  chat.type("say this was typed meanwhile")
  await chat.shows(/the store does not answer; it is tried again/)
  chat.type("/tasks")
  await chat.shows(/the store does not answer; it is tried again/)
  await server.start()
  // Whoever comes first.
  await eventually("it is told that the store is back", () => BACK.test(chat.shown()))
  await eventually("it is answered", () => /\d tokens[^]*this was typed meanwhile[^]*\d tokens/.test(chat.shown()))
  chat.type("/quit")
  expect(await chat.exited).toBe(0)
})

test("Ctrl+C stops an answer while the store is away, and what was said of it is kept when the store is back", async () => {
  const directory = createFolder()
  const words = ["--engine", await createStore()]
  const chat = startInTerminal({ directory, arguments: words })
  await chat.shows(/you talk with/)
  chat.type("count to 400 slowly")
  await chat.shows(/1 2 3/)
  await server.kill()
  await chat.shows(AWAY)
  chat.press("\x03")
  await chat.shows(/the turn was stopped/)
  expect(BACK.test(chat.shown())).toBe(false)
  await server.start()
  await chat.shows(BACK)
  await eventually("the turn is cancelled", async () => {
    const { stdout } = await runToEnd({ directory, arguments: ["tasks", "list", "--all", ...words] })
    return /cancelled +[\d.]+ m?s +count to 400 slowly/.test(stdout)
  })
  chat.type("/quit")
  expect(await chat.exited).toBe(0)
  const again = startInTerminal({ directory, arguments: [...words, "--resume"] })
  await again.shows(/count to 400 slowly\s[^]*1 2 3/)
  again.type("say afterwards")
  await again.shows(/[\r\n]afterwards\s[^]*tokens/)
  again.type("/quit")
  expect(await again.exited).toBe(0)
})

test("whoever stops an answer while the store is away, and leaves, is told how to stop it when the store is back", async () => {
  const directory = createFolder()
  const words = ["--engine", await createStore()]
  const chat = startInTerminal({ directory, arguments: words })
  await chat.shows(/you talk with/)
  chat.type("count to 400 slowly")
  await chat.shows(/1 2 3/)
  await server.kill()
  await chat.shows(AWAY)
  chat.press("\x03")
  await chat.shows(/the turn was stopped/)
  chat.type("/quit")
  expect(await chat.exited).toBe(0)
  const leaving = chat.shown().slice(chat.shown().lastIndexOf("/quit")).replaceAll(/\s+/g, " ")
  expect(leaving).not.toMatch(/may not have kept|The turn that runs/)
  const [, turn = ""] = /The stop could not be written: .* tasks cancel ([0-9a-f]{8})/.exec(leaving) ?? []
  await server.start()
  expect(turn, leaving).not.toBe("")
  const cancelled = await runToEnd({ directory, arguments: ["tasks", "cancel", turn, ...words] })
  expect(cancelled).toMatchObject({ exitCode: 0 })
  const { stdout } = await runToEnd({ directory, arguments: ["tasks", "list", "--all", ...words] })
  expect(stdout).toMatch(/cancelled .*count to 400 slowly/)
})

test("whoever leaves a chat while its store is away goes at once, and is given back what was not kept", async () => {
  const chat = startInTerminal({ directory: createFolder(), arguments: ["--engine", await createStore()] })
  await chat.shows(/you talk with/)
  chat.type("say first")
  await chat.shows(/first\s[^]*tokens/)
  await server.kill()
  onTestFinished(server.start)
  await chat.shows(AWAY)
  chat.type("say never heard")
  chat.type("/quit")
  await chat.shows(/(not said|may not have kept what you said):\s+say never heard/)
  expect(await chat.exited).toBe(0)
})

test("a command that the store did not take is given back to whoever leaves", async () => {
  const chat = startInTerminal({ directory: createFolder(), arguments: ["--engine", await createStore()] })
  await chat.shows(/you talk with/)
  chat.type("say first")
  await chat.shows(/first\s[^]*tokens/)
  await server.kill()
  onTestFinished(server.start)
  await chat.shows(AWAY)
  chat.type("/start echo never started")
  chat.type("/tasks")
  chat.type("/quit")
  expect(await chat.exited).toBe(0)
  expect(chat.shown()).toMatch(/may not have kept what you said:\s+\/start echo never started\s*$/)
})

test("a worker says once that its store is away and once that it is back, and what it ran comes to its end", async () => {
  const { desk, worker, id, folder } = await startWork("while [ ! -f end ]; do sleep 0.1; done")
  await server.kill()
  await worker.shows(AWAY)
  writeFileSync(join(folder, "end"), "")
  await server.start()
  await worker.shows(BACK)
  expect((await desk.tasks.result(id, { waitMs: 30_000 })).task.status).toBe("completed")
  expect(worker.shown().match(/cannot be reached/g)).toHaveLength(1)
  expect(worker.shown().match(/is back, after/g)).toHaveLength(1)
  worker.kill("SIGINT")
  expect(await worker.exited).toBe(0)
})

test("Ctrl+C ends a worker while its store is away, with what it ran", async () => {
  const { worker, folder } = await startWork("echo $$ > pid; exec sleep 1000")
  const pid = Number(await eventually("it runs", () => readIfThere(join(folder, "pid"))))
  await server.kill()
  onTestFinished(server.start)
  await worker.shows(AWAY)
  worker.kill("SIGINT")
  expect(await worker.exited).toBe(3)
  expect(worker.shown()).toMatch(/has stopped\. Its store is away/)
  // Not even one that tells everything speaks of what is being closed.
  expect(worker.shown()).not.toMatch(/trying again/)
  await eventually("its process is gone", () => !isAlive(pid))
})

test("a worker that is stopped while its store is away says that once, and not what failed for it", async () => {
  const worker = startPiped({ directory: createFolder(), arguments: ["worker", "--engine", await createStore()] })
  await worker.shows(/takes tasks from/)
  await server.kill()
  onTestFinished(server.start)
  await worker.shows(AWAY)
  const told = worker.shown().trimEnd()
  worker.kill("SIGTERM")
  expect(await worker.exited).toBe(3)
  const since = worker.shown().slice(told.length).trim()
  expect(since).toMatch(/^Worker \d+ has stopped\. Its store is away: others take over what it ran\.$/)
})

test("a store that is not there at the start is waited for, and that is said", async () => {
  const url = await createStore()
  await server.kill()
  const words = ["--engine", url] as const
  const looks = runToEnd({ directory: createFolder(), arguments: ["tasks", ...words] })
  const [worker, another] = [
    startPiped({ directory: createFolder(), arguments: ["worker", ...words] }),
    startPiped({ directory: createFolder(), arguments: ["worker", ...words] }),
  ]
  const run = startPiped({ directory: createFolder(), arguments: ["run", "say hello", ...words] })
  run.endInput()
  await worker.shows(/does not answer yet\. It is waited for, up to 60 s/)
  await another.shows(/does not answer yet/)
  another.kill("SIGINT")
  expect(await another.exited).toBe(3)
  expect(another.shown()).toMatch(/up to 60 s\.\nWorker \d+ has stopped while it waited for its store\..*\n$/)
  await run.shows(/does not answer yet/)
  run.kill("SIGINT")
  expect(await run.exited).toBe(3)
  expect(run.shown()).toMatch(/meanwhile: stopped by a signal; nothing was said yet\n$/)
  const refused = await looks
  expect(refused).toMatchObject({ exitCode: 2, stdout: "" })
  expect(refused.stderr).toMatch(/does not answer yet\. It is waited for, up to 5 s\.\nmeanwhile: .*cannot be reached/)
  await server.start()
  await worker.shows(/takes tasks from/)
  worker.kill("SIGINT")
  expect(await worker.exited, worker.shown()).toBe(0)
})

test("a password that nobody gave, or that is wrong, is refused at once", async () => {
  const url = await createStore()
  const database = await openDatabase({ url: server.url, poolSize: 1 })
  const [row] = await database.query<{ path: string }>("SELECT current_setting('hba_file') AS path")
  await database.query("CREATE ROLE careful LOGIN PASSWORD 'hunter2'")
  const rules = ["host all careful 127.0.0.1/32 scram-sha-256", "host all all 127.0.0.1/32 trust"]
  const lines = rules.map((rule) => `('${rule}')`).join()
  await database.query(`COPY (VALUES ${lines}) TO '${row?.path}'; SELECT pg_reload_conf()`)
  await eventually("the rules hold", async () => {
    const found = await database.query("SELECT FROM pg_hba_file_rules WHERE 'careful' = ANY (user_name)")
    return found.length === 1
  })
  await database.close()
  const careful = url.replace("postgres@", "careful@")
  const look = (environment: Record<string, string> = {}) =>
    runToEnd({ directory: createFolder(), arguments: ["tasks", "--engine", careful], environment })
  const [without, wrong] = await Promise.all([look(), look({ PGPASSWORD: "opensesame" })])
  expect(without).toMatchObject({ exitCode: 2, stdout: "" })
  expect(without.stderr).toMatch(/^meanwhile: The store at \S+ asks for a password, and none was given\./)
  expect(wrong).toMatchObject({ exitCode: 2, stdout: "" })
  expect(wrong.stderr).toMatch(/^meanwhile: The store at \S+ refuses the user or the password\./)
  expect(wrong.stderr).not.toContain("opensesame")
})

test("a URL whose TLS cannot be meant is refused with what to write instead", async () => {
  const url = await createStore()
  const look = async (query: string) =>
    (await runToEnd({ directory: createFolder(), arguments: ["tasks", "--engine", `${url}?${query}`] })).stderr
  const [unknown, missing, none] = await Promise.all([
    look("sslmode=sometimes"),
    look("sslmode=verify-full&sslrootcert=/nowhere/ca.pem"),
    look("sslmode=verify-full"),
  ])
  expect(unknown).toMatch(/^meanwhile: The sslmode in the URL .* verify-full/)
  expect(missing).toMatch(/^meanwhile: .* names the file \/nowhere\/ca\.pem.*ENOENT.*sslrootcert/)
  expect(none).toMatch(/^meanwhile: .* does not speak TLS/)
})

test("a run that is stopped while its store is away ends soon, and says so", async () => {
  const url = await createStore()
  const run = startPiped({ directory: createFolder(), arguments: ["run", "count to 90 slowly", "--engine", url] })
  run.endInput()
  await run.shows(/1 2 /)
  await server.kill()
  onTestFinished(server.start)
  await run.shows(AWAY)
  run.kill("SIGINT")
  expect(await run.exited).toBe(3)
  expect(run.shown()).toMatch(/stopped while the store is away/)
})
