import { randomUUID } from "node:crypto"
import pg from "pg"
import { DEFAULT_SCHEMA } from "../../../src/engine/postgres/connection/client-settings.ts"
import { openDatabase } from "../../../src/engine/postgres/connection/open-database.ts"
import { migrate } from "../../../src/engine/postgres/schema/migrations.ts"
import { createCluster, type EndSignal } from "./cluster.ts"
import { askForSharedServer } from "./door.ts"

/** A real PostgreSQL, for tests. */
export interface TestServer extends AsyncDisposable {
  /** The URL of the server's superuser and its default database. */
  readonly url: string
  /** Creates an empty database. */
  createDatabase(): Promise<TestDatabase>
  /** Ends the server and starts it again on the same port. Default: SIGINT, which closes connections in order. */
  restart(signal?: EndSignal): Promise<void>
  /** Ends the server as a crash would, or by the given signal. `start` starts it again. */
  kill(signal?: EndSignal): Promise<void>
  start(): Promise<void>
  /** Ends the server and removes its folder. */
  stop(): Promise<void>
}

export interface TestDatabase extends AsyncDisposable {
  readonly url: string
  /** Removes the database, also while clients are connected. */
  drop(): Promise<void>
}

export interface TestServerOptions {
  /** True: commits wait for the disk. */
  readonly isDurable?: boolean
  /** `name=value` of the server's configuration. */
  readonly settings?: readonly string[]
}

/** Starts a server of the test's own, which can be restarted and killed. It ends with this process, however that ends. */
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

/** On a busy machine a connection to a running server takes longer than the default allows. */
export const START_PATIENCE_MS = 60_000

let ownServer: Promise<TestServer> | undefined

/**
 * Creates a database for one test, migrated unless `isEmpty`, on the server that all test files of a run share, or else on a
 * server of this process.
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

/** Runs a statement on a pooled connection: a new one costs a third of the computing time that a new database costs. */
function runOnLastingServer(url: string): Run {
  const pool = pools.get(url) ?? new pg.Pool({ connectionString: url, allowExitOnIdle: true }).on("error", () => {})
  pools.set(url, pool)
  return (statement) => pool.query(statement)
}

/** A database with the tables of this version, which is copied so that no test waits until tables are made. */
const TEMPLATE = "migrated"
const UNFINISHED = "migrating"
const LOCK = 1

const hasTemplate = new Set<string>()

/** Makes the template once on each server, under a lock: any test file may come first. */
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
