import { randomUUID } from "node:crypto"
import { connect } from "node:net"
import { text } from "node:stream/consumers"
import pg from "pg"
import { createCluster, type EndSignal } from "./test-cluster.ts"

/** A real PostgreSQL, for tests. */
export interface TestServer extends AsyncDisposable {
  /** Of its superuser and the database that is always there. */
  readonly url: string
  /** A database with nothing in it. */
  createDatabase(): Promise<TestDatabase>
  /** Ends it and starts it again on the same port. Without a signal its clients are told goodbye. */
  restart(signal?: EndSignal): Promise<void>
  /** Ends it as an accident would. `start` brings it back. */
  kill(): Promise<void>
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
    createDatabase: () => createDatabase(url),
    async restart(signal = "SIGINT") {
      await cluster.stop(signal, "keep")
      await cluster.start()
    },
    kill: () => cluster.stop("SIGKILL", "keep"),
    start: cluster.start,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** Names the port where test files ask for the server that they share. It is not set outside of a test run. */
export const SHARED_SERVER_DOOR = "MEANWHILE_TEST_POSTGRES_DOOR"

let ownServer: Promise<TestServer> | undefined

/** A migrated database of one's own, on the server that all test files of a run share, or on one of this process. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const url = (await askForSharedServer()) ?? (await (ownServer ??= startTestServer())).url
  return createDatabase(url)
}

async function createDatabase(serverUrl: string): Promise<TestDatabase> {
  const name = `test_${randomUUID().replaceAll("-", "")}`
  await run(serverUrl, `CREATE DATABASE ${name}`)
  const url = new URL(serverUrl)
  url.pathname = name
  const drop = () => run(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  return { url: url.href, drop, [Symbol.asyncDispose]: drop }
}

async function askForSharedServer(): Promise<string | undefined> {
  const port = Number(process.env[SHARED_SERVER_DOOR])
  if (!port) return undefined
  const url = await text(connect(port, "127.0.0.1"))
  if (url === "") throw new Error("The PostgreSQL that test files share does not start.")
  return url
}

async function run(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
