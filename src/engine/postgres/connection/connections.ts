import pg from "pg"
import { type ClientSettings, withoutSessionSettings } from "./client-settings.ts"
import type { Statement } from "./database.ts"
import { isSettingRefused, toTrouble } from "./store-error.ts"

/** At most so many at once, made when needed, each used by one at a time. */
export interface Connections {
  /** The connection goes back afterwards, or away when it was lost or what came of it cannot be trusted. */
  use<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

export interface Connection {
  run<Row = never>(statement: string | Statement, values?: readonly unknown[]): Promise<readonly Row[]>
  /** Statements without values that change nothing about rows: the name of the last command that was done. */
  command(text: string): Promise<string>
  /** What each transaction begins with. */
  readonly begin: string
  /** A statement by itself must be made a transaction, because the session is not ours. */
  readonly isBorrowed: boolean
}

const IDLE_MS = 30_000

export function createConnections(settings: ClientSettings, size: number): Connections {
  let isBorrowed = false
  let pool = createPool(settings.client)

  function createPool(client: pg.ClientConfig): pg.Pool {
    const made = new pg.Pool({ ...client, max: size, idleTimeoutMillis: IDLE_MS })
    // Whoever uses a lost connection is told by its own statement; that an idle one was lost concerns nobody.
    made.on("error", ignore)
    made.on("connect", (connected) => connected.on("error", ignore))
    return made
  }

  async function connect(): Promise<pg.PoolClient> {
    try {
      return await pool.connect()
    } catch (error) {
      if (!isSettingRefused(error)) throw error
      if (!isBorrowed) {
        isBorrowed = true
        void pool.end()
        pool = createPool(withoutSessionSettings(settings.client))
      }
      return pool.connect()
    }
  }

  return {
    async use(work) {
      const client = await connect()
      const connection = toConnection(client, isBorrowed ? `BEGIN; ${settings.perTransaction}` : "BEGIN", isBorrowed)
      try {
        const result = await work(connection)
        client.release(connection.isBroken())
        return result
      } catch (error) {
        client.release(connection.isBroken() || client.getTransactionStatus() !== "I")
        throw error
      }
    },
    close: () => pool.end(),
  }
}

function toConnection(client: pg.PoolClient, begin: string, isBorrowed: boolean) {
  let isBroken = false

  async function ask(statement: string | Statement, values?: readonly unknown[]): Promise<readonly pg.QueryResult[]> {
    const { name, text } = typeof statement === "string" ? { name: undefined, text: statement } : statement
    try {
      const query = { text, ...(values ? { values: [...values] } : {}) }
      // Behind a pooler the next statement may meet another session, which does not know the name.
      const result: unknown = await client.query(name === undefined || isBorrowed ? query : { ...query, name })
      return (Array.isArray(result) ? result : [result]) as readonly pg.QueryResult[]
    } catch (error) {
      if (spoils(error)) isBroken = true
      throw error
    }
  }

  return {
    begin,
    isBorrowed,
    isBroken: () => isBroken,
    async run<Row>(statement: string | Statement, values?: readonly unknown[]): Promise<readonly Row[]> {
      const results = await ask(statement, values)
      const [first, ...others] = results.map((result) => result.rows as readonly Row[])
      return others.length === 0 ? (first ?? []) : [first ?? [], ...others].flat()
    },
    command: async (text: string) => (await ask(text)).at(-1)?.command ?? "",
  }
}

/** A stale plan goes with its session. */
const STALE_PLANS: ReadonlySet<string> = new Set(["0A000", "26000", "42P05"])

function spoils(error: unknown): boolean {
  if (toTrouble(error)?.kind === "lost") return true
  return error instanceof pg.DatabaseError && STALE_PLANS.has(error.code ?? "")
}

function ignore(): void {}
