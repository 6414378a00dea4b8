import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { openDisposable } from "../support/postgres/disposable.ts"
import { startTestServer, type TestServer } from "../support/postgres/server.ts"
import { eventually } from "../support/eventually.ts"
import { processesWith } from "../support/processes.ts"
import { startPiped } from "../support/program.ts"
import { createFolder, toTestMarker } from "../support/workplace.ts"
import { createCarefulRole } from "../support/cli/careful-role.ts"

const SECRET = "hunter2%hunter3"
const CODED = encodeURIComponent(SECRET)
/** The password as text, as a part of a URL, and as PostgreSQL shows bytes. */
const FORMS = [SECRET, CODED, Buffer.from(SECRET).toString("hex")]

let server: TestServer

beforeAll(async () => {
  server = await startTestServer()
  await createCarefulRole(server.url, SECRET)
})

afterAll(() => server.stop())

const WAYS = [
  { way: "PGPASSWORD", toWords: (url: string) => ["--engine", url], toEnvironment: () => ({ PGPASSWORD: SECRET }) },
  {
    way: "MEANWHILE_ENGINE",
    toWords: () => [],
    toEnvironment: (url: string) => ({ MEANWHILE_ENGINE: url.replace("careful@", `careful:${CODED}@`) }),
  },
]

test.each(WAYS)("a password in $way reaches nobody but the server", async ({ toWords, toEnvironment }) => {
  const { url } = await server.createDatabase()
  await using owner = await openDisposable({ url, poolSize: 1 })
  await owner.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} OWNER TO careful`)
  const careful = url.replace("postgres@", "careful@")
  const [directory, elsewhere] = [createFolder(), createFolder()]
  const environment = toEnvironment(careful)
  const worker = startPiped({
    directory: elsewhere,
    arguments: ["worker", "--verbose", ...toWords(careful)],
    environment,
  })
  await worker.shows(/takes tasks from/)
  const words = ["--yes", "--concurrency", "0", ...toWords(careful)]
  const chat = startPiped({ directory, arguments: words, environment })
  chat.type("run `env`")
  await chat.shows(/PATH=/)
  chat.type("/start env; sleep 1000")
  const id = (await chat.shows(/\[[0-9a-f]{8}\] is queued/)).slice(1, 9)
  // The two programs, the watcher of the command, and the command. Processes that end between two looks are left out.
  const started = await eventually("the command runs", () => {
    const pids = [directory, elsewhere].flatMap((folder) => processesWith(toTestMarker(folder)))
    const found = pids.map((pid) => ({ pid, command: readCommand(pid) })).filter(({ command }) => command !== "")
    return found.length > 3 && found.some(({ command }) => command.includes("sleep 1000")) && found
  })
  expect(started.map(({ pid }) => pid)).toEqual(expect.arrayContaining([chat.pid, worker.pid]))
  const commands = started.map(({ command }) => command)
  chat.type(`/cancel ${id}`)
  await chat.shows(new RegExp(`\\[${id}\\] cancelled`))
  chat.endInput()
  await chat.exited
  worker.kill("SIGTERM")
  await worker.exited

  const told = { commands, lines: [chat.shown(), worker.shown()], rows: await readAll(owner.query) }
  expect(told.rows.join()).toContain("PATH=")
  for (const [where, texts] of Object.entries({ ...told, files: readFiles(directory).concat(readFiles(elsewhere)) }))
    for (const form of FORMS) expect(texts.join("\n").includes(form), `${where} hold ${form}`).toBe(false)
})

/** Every row of every table of the store and of its queue, as text. */
async function readAll(query: Awaited<ReturnType<typeof openDisposable>>["query"]): Promise<readonly string[]> {
  const tables = await query<{ name: string }>(
    `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
     WHERE table_schema IN ('meanwhile', 'meanwhile_queue')`,
  )
  expect(tables.length).toBeGreaterThan(10)
  const rows = await Promise.all(
    tables.map(({ name }) => query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`)),
  )
  return rows.flat().map(({ row }) => row)
}

/** The command line as everybody on the machine can read it; empty if the process has ended. */
function readCommand(pid: number): string {
  try {
    if (process.platform === "linux") return readFileSync(`/proc/${pid}/cmdline`, "latin1")
    return execFileSync("ps", ["-ww", "-o", "args=", "-p", String(pid)], { encoding: "latin1" })
  } catch {
    return ""
  }
}

function readFiles(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
}
