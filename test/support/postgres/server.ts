import { randomUUID } from "node:crypto"
import pg from "pg"
import { DEFAULT_SCHEMA } from "../../../src/engine/postgres/connection/client-settings.ts"
import { openDatabase } from "../../../src/engine/postgres/connection/open-database.ts"
import { migrate } from "../../../src/engine/postgres/schema/migrations.ts"
import { createCluster, type EndSignal } from "./cluster.ts"
import { askForSharedServer } from "./door.ts"

/** A real PostgreSQL, for tests. */
export interface TestServer extends AsyncDisposable {
  /** Of its superuser and the database that is always there. */
  readonly url: string
  /** A database with nothing in it. */
  createDatabase(): Promise<TestDatabase>
  /** Ends it and starts it again on the same port. Without a signal its clients are told goodbye. */
  restart(signal?: EndSignal): Promise<void>
  /** Ends it, as an accident would unless another signal is given. `start` brings it back. */
  kill(signal?: EndSignal): Promise<void>
  start(): Promise<void>
  /** Ends it and removes all that it held. */
  stop(): Promise<void>
}

export interface TestDatabase extends AsyncDisposable {
  readonly url: string
  /** Removes it, whoever is still connected. */
  drop(): Promise<void>
}

export interface TestServerOptions {
  /** Waits for the disk, as a measurement must. */
  readonly isDurable?: boolean
  /** `name=value` of the server's configuration. */
  readonly settings?: readonly string[]
}

/** One that nobody else uses: it can be restarted and killed. It ends with this process, however that ends. */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const cluster = await createCluster(options)
  const url = `postgres://postgres@127.0.0.1:${cluster.port}/postgres`
  const stop = () => cluster.stop("SIGQUIT", "remove")
  return {
    url,
    createDatabase: () => createDatabase(url, (statement) => run(url, statement)),
    async restart(signal = "SIGINT") {
      await cluster.stop(signal, "keep")
      await cluster.start()
    },
    kill: (signal = "SIGKILL") => cluster.stop(signal, "keep"),
    start: cluster.start,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** A connection to a server that is there takes longer than the default where the machine has many others to serve. */
export const START_PATIENCE_MS = 60_000

let ownServer: Promise<TestServer> | undefined

/**
 * A database of one's own, migrated unless it shall be empty, on the server that all test files of a run share, or on one
 * of this process.
 */
export async function createTestDatabase({ isEmpty = false } = {}): Promise<TestDatabase> {
  const url = (await askForSharedServer()) ?? (await (ownServer ??= startTestServer())).url
  const run = runOnLastingServer(url)
  if (isEmpty) return createDatabase(url, run)
  await ensureTemplate(url)
  return createDatabase(url, run, `TEMPLATE ${TEMPLATE} STRATEGY FILE_COPY`)
}

type Run = (statement: string) => Promise<unknown>

async function createDatabase(serverUrl: string, run: Run, options = ""): Promise<TestDatabase> {
  const name = `test_${randomUUID().replaceAll("-", "")}`
  await run(`CREATE DATABASE ${name} ${options}`)
  const drop = async () => void (await run(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
  return { url: toDatabaseUrl(serverUrl, name), drop, [Symbol.asyncDispose]: drop }
}

const pools = new Map<string, pg.Pool>()

/** A connection costs the server as much computing time as a third of a new database. */
function runOnLastingServer(url: string): Run {
  const pool = pools.get(url) ?? new pg.Pool({ connectionString: url, allowExitOnIdle: true }).on("error", () => {})
  pools.set(url, pool)
  return (statement) => pool.query(statement)
}

/** With the tables of this version, so that a test does not wait until they are made. */
const TEMPLATE = "migrated"
const UNFINISHED = "migrating"
const LOCK = 1

const hasTemplate = new Set<string>()

/** Once on each server, whichever test file comes first. */
async function ensureTemplate(serverUrl: string): Promise<void> {
  if (hasTemplate.has(serverUrl)) return
  await withClient(serverUrl, async (client) => {
    await client.query("SELECT pg_advisory_lock($1)", [LOCK])
    const { rowCount } = await client.query("SELECT FROM pg_database WHERE datname = $1", [TEMPLATE])
    if (rowCount !== 0) return
    await client.query(`DROP DATABASE IF EXISTS ${UNFINISHED} WITH (FORCE)`)
    await client.query(`CREATE DATABASE ${UNFINISHED}`)
    const database = await openDatabase({
      url: toDatabaseUrl(serverUrl, UNFINISHED),
      startPatienceMs: START_PATIENCE_MS,
    })
    await migrate(database, DEFAULT_SCHEMA)
    await database.close()
    await client.query(`ALTER DATABASE ${UNFINISHED} RENAME TO ${TEMPLATE}`)
  })
  hasTemplate.add(serverUrl)
}

function toDatabaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = name
  return url.href
}

function run(url: string, statement: string): Promise<void> {
  return withClient(url, async (client) => {
    await client.query(statement)
  })
}

async function withClient(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}
