import pg from "pg"
import { type ClientSettings, withoutSessionSettings } from "./client-settings.ts"
import type { Statement } from "./database.ts"
import { createSockets } from "./sockets.ts"
import { isSettingRefused, toTrouble, TurnedAway } from "./store-error.ts"
import { createUnanswered } from "./unanswered.ts"

/** At most so many at once, made when needed, each used by one at a time. */
export interface Connections {
  /** The connection goes back afterwards, or away when it was lost or what came of it cannot be trusted. */
  use<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result>
  /** Refuses, as lost, what was asked before this moment (of the monotonic clock) and was not answered. */
  giveUp(askedBeforeMs: number): void
  /** Refuses everything from now on, as lost. */
  cut(): void
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

export interface ConnectionsParts {
  readonly settings: ClientSettings
  /** The most at once. */
  readonly size: number
  /** A connection was lost, or nobody has answered for long. */
  onDoubt(): void
}

const IDLE_MS = 30_000

export function createConnections({ settings, size, onDoubt }: ConnectionsParts): Connections {
  const sockets = createSockets()
  const unanswered = createUnanswered(onDoubt)
  let isBorrowed = false
  let hasConnected = false
  let isOver = false
  let pool = createPool(settings.client)

  function createPool(client: pg.ClientConfig): pg.Pool {
    const made = new pg.Pool({ ...client, stream: sockets.create, max: size, idleTimeoutMillis: IDLE_MS })
    // Whoever uses a lost connection is told by its own statement; an idle one says that something happened.
    made.on("error", onDoubt)
    made.on("connect", (connected) => connected.on("error", ignore))
    return made
  }

  async function connect(): Promise<pg.PoolClient> {
    try {
      const client = await pool.connect()
      hasConnected = true
      return client
    } catch (error) {
      if (!isSettingRefused(error)) throw hasConnected ? new TurnedAway(error) : error
      if (!isBorrowed) {
        isBorrowed = true
        void pool.end()
        pool = createPool(withoutSessionSettings(settings.client))
      }
      return pool.connect()
    }
  }

  async function connectUnless(givenUp: Promise<never>): Promise<pg.PoolClient> {
    if (isOver) throw new Error("Connection terminated: this program is leaving, and does not wait for another")
    const connecting = connect()
    return Promise.race([connecting, givenUp]).catch((error: unknown) => {
      connecting.then((late) => late.release(true), ignore)
      throw error
    })
  }

  async function useOne<Result>(
    work: (connection: Connection) => Promise<Result>,
    givenUp: Promise<never>,
  ): Promise<Result> {
    const client = await connectUnless(givenUp)
    const begin = isBorrowed ? `BEGIN; ${settings.perTransaction}` : "BEGIN"
    const connection = toConnection({ client, begin, isBorrowed, givenUp })
    try {
      const result = await work(connection)
      client.release(connection.isBroken())
      return result
    } catch (error) {
      client.release(connection.isBroken() || client.getTransactionStatus() !== "I")
      throw error
    }
  }

  return {
    async use(work) {
      const { givenUp, end } = unanswered.begin()
      try {
        return await useOne(work, givenUp)
      } catch (error) {
        if (toTrouble(error)?.kind === "lost") onDoubt()
        throw error
      } finally {
        end()
      }
    },
    giveUp: unanswered.giveUp,
    cut() {
      isOver = true
      unanswered.giveUp(Number.POSITIVE_INFINITY)
      sockets.destroyAll()
    },
    async close() {
      unanswered.close()
      await pool.end()
      sockets.letGo()
    },
  }
}

interface ConnectionParts extends Pick<Connection, "begin" | "isBorrowed"> {
  readonly client: pg.PoolClient
  readonly givenUp: Promise<never>
}

function toConnection({ client, begin, isBorrowed, givenUp }: ConnectionParts) {
  let isBroken = false

  async function ask(statement: string | Statement, values?: readonly unknown[]): Promise<readonly pg.QueryResult[]> {
    const { name, text } = typeof statement === "string" ? { name: undefined, text: statement } : statement
    try {
      const query = { text, ...(values ? { values: [...values] } : {}) }
      // Behind a pooler the next statement may meet another session, which does not know the name.
      const answer = client.query(name === undefined || isBorrowed ? query : { ...query, name })
      const result: unknown = await Promise.race([answer, givenUp])
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
