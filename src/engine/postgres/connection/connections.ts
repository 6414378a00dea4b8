import pg from "pg"
import { type ClientSettings, withoutSessionSettings } from "./client-settings.ts"
import { type Connection, toConnection } from "./connection.ts"
import { createSockets } from "./sockets.ts"
import { isOwnSession } from "./own-session.ts"
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
  const owned = new WeakSet<pg.PoolClient>()
  const retired: pg.Pool[] = []
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
      if (isBorrowed || (await isOwned(client))) return client
      client.release(true)
    } catch (error) {
      if (!isSettingRefused(error)) throw hasConnected ? new TurnedAway(error) : error
    }
    borrow()
    return pool.connect()
  }

  /** Asked once of each connection. */
  async function isOwned(client: pg.PoolClient): Promise<boolean> {
    if (owned.has(client)) return true
    try {
      if (!(await isOwnSession(client, settings))) return false
    } catch (error) {
      client.release(true)
      throw error
    }
    owned.add(client)
    return true
  }

  /** From now on sessions are not ours. Those who wait for one of the pool until now get it, and come here then. */
  function borrow(): void {
    if (isBorrowed) return
    isBorrowed = true
    retired.push(pool)
    pool = createPool(withoutSessionSettings(settings.client))
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
    const { perTransaction } = settings
    const connection = toConnection({ client, isBorrowed, perTransaction, givenUp })
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
      await Promise.all([...retired, pool].map((made) => made.end()))
      sockets.letGo()
    },
  }
}

function ignore(): void {}
