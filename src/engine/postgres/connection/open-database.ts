import { createCommitMarks } from "./commit-marks.ts"
import { type ConnectionOptions, toClientSettings } from "./client-settings.ts"
import { type Connection, createConnections } from "./connections.ts"
import type { Database, Query, Statement } from "./database.ts"
import { closed, createPatience } from "./patience.ts"
import { toStoreError } from "./store-error.ts"
import { createTransactions } from "./transaction.ts"

export interface DatabaseOptions extends ConnectionOptions {
  /** The most connections at once. */
  readonly poolSize?: number
  /** How long a lost connection is tried to be made again before who asked is refused. */
  readonly patienceMs?: number
  /** The same for the first connection of all, when it is more likely that the URL is wrong. */
  readonly openPatienceMs?: number
}

const POOL_SIZE = 10
const PATIENCE_MS = 60_000
const OPEN_PATIENCE_MS = 5_000

/** Connects once, so that a wrong URL shows at once. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { poolSize = POOL_SIZE, patienceMs = PATIENCE_MS, openPatienceMs = OPEN_PATIENCE_MS } = options
  const settings = toClientSettings(options)
  const connections = createConnections(settings, poolSize)
  const closing = new AbortController()
  const underWay = new Set<Promise<unknown>>()

  async function ask<Row>(statement: string | Statement, values: readonly unknown[] | undefined, forMs: number) {
    const patience = createPatience(forMs, closing.signal)
    for (;;) {
      try {
        return await connections.use((connection) => askOnce<Row>(connection, statement, values))
      } catch (error) {
        if (!(await patience.bear(error))) throw toStoreError(error, settings.server)
      }
    }
  }

  /** What is under way when the store is closed ends as it ends, but is not tried again. */
  async function accept<Result>(work: () => Promise<Result>): Promise<Result> {
    if (closing.signal.aborted) throw closed()
    const promise = work()
    underWay.add(promise)
    try {
      return await promise
    } finally {
      underWay.delete(promise)
    }
  }

  const runTransaction = createTransactions({
    connections,
    marks: createCommitMarks(),
    server: settings.server,
    createPatience: () => createPatience(patienceMs, closing.signal),
  })
  const query: Query = (statement, values) => accept(() => ask(statement, values, patienceMs))

  let closedOnce: Promise<void> | undefined
  async function close(): Promise<void> {
    closing.abort()
    await Promise.allSettled(underWay)
    await connections.close()
  }

  try {
    await ask("SELECT 1", undefined, openPatienceMs)
  } catch (error) {
    await connections.close()
    throw error
  }
  return {
    query,
    transaction: (work) => accept(() => runTransaction(work)),
    close: () => (closedOnce ??= close()),
  }
}

async function askOnce<Row>(
  connection: Connection,
  statement: string | Statement,
  values: readonly unknown[] | undefined,
): Promise<readonly Row[]> {
  if (!connection.isBorrowed) return connection.run<Row>(statement, values)
  const [, rows] = await Promise.all([
    connection.command(connection.begin),
    connection.run<Row>(statement, values),
    connection.command("COMMIT"),
  ])
  return rows
}
