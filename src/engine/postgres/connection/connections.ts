import pg from "pg"
import { type ClientSettings, withoutSessionSettings } from "./client-settings.ts"
import { type Connection, toConnection } from "./connection.ts"
import { createSockets } from "./sockets.ts"
import { isSettingRefused, toTrouble, TurnedAway } from "./store-error.ts"

/** A pool of at most `size` connections, made when needed, each used by one caller at a time. */
export interface Connections {
  /** Returns the connection to the pool afterwards, or closes it if it was lost or its state cannot be trusted. */
  use<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result>
  /** Refuses, as lost, the statements that were sent before this moment (of the monotonic clock) and not answered. */
  giveUp(askedBeforeMs: number): void
  /** Refuses everything from now on, as lost connections do. */
  cut(): void
  close(): Promise<void>
}

interface ConnectionsParts {
  readonly settings: ClientSettings
  /** The most connections at once. */
  readonly size: number
  /** Called when a connection was lost, or the server has not answered for long. */
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
    // The user of a lost connection learns it from its own statement; an idle connection that is lost is a reason for
    // doubt.
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

  /** Looked up once for each connection. */
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

  /**
   * From now on sessions are not ours alone. Callers who wait for a connection of the old pool get one, and then come
   * here.
   */
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

/**
 * True if a connection leads to a session of the server that is ours alone until it ends, with the settings that it was
 * made with. A pooler may drop the settings, or give each transaction another session: then the session's process is
 * not the one that was named when the connection was made.
 */
async function isOwnSession(client: pg.PoolClient, { hasSettings }: ClientSettings): Promise<boolean> {
  const sql = `SELECT pg_backend_pid() AS process, ${hasSettings} AS has_settings`
  const { rows } = await client.query<{ process: number; has_settings: boolean }>(sql)
  const [found] = rows
  const named = "processID" in client ? client.processID : null
  return found?.has_settings === true && found.process === named
}

const LOOK_EVERY_MS = 250
/** A server that can be reached rarely takes longer to answer. */
const LONG_MS = 750
const TELL_AGAIN_MS = 2_000

/** Statements that the server has not answered yet. `onLong` is called when one of them has waited for long. */
function createUnanswered(onLong: () => void) {
  /** The oldest first. */
  const asked = new Map<symbol, { readonly sinceMs: number; readonly giveUp: (error: Error) => void }>()
  let toldMs = Number.NEGATIVE_INFINITY

  function look(): void {
    const [oldest] = asked.values()
    const nowMs = performance.now()
    if (!oldest || nowMs - oldest.sinceMs < LONG_MS || nowMs - toldMs < TELL_AGAIN_MS) return
    toldMs = nowMs
    onLong()
  }

  const timer = setInterval(look, LOOK_EVERY_MS).unref()
  return {
    begin() {
      const key = Symbol("asked")
      // Never resolves. Rejects once the answer is given up.
      const { promise: givenUp, reject: giveUp } = Promise.withResolvers<never>()
      givenUp.catch(() => {})
      asked.set(key, { sinceMs: performance.now(), giveUp })
      return { givenUp, end: () => void asked.delete(key) }
    },
    /** Refuses, as lost, the statements that were sent before this moment (of the monotonic clock) and not answered. */
    giveUp(askedBeforeMs: number): void {
      for (const { sinceMs, giveUp } of asked.values())
        if (sinceMs < askedBeforeMs) giveUp(new Error("Connection terminated: its answer is not waited for any more"))
    },
    close: () => clearInterval(timer),
  }
}
