import { setImmediate as turn, setTimeout as wait } from "node:timers/promises"
import pg from "pg"
import { unlessAborted } from "../../../base/unless-aborted.ts"
import type { Database } from "../connection/database.ts"
import { createPatience } from "../connection/patience.ts"
import { createSockets } from "../connection/sockets.ts"

interface ListenerOptions {
  readonly client: pg.ClientConfig
  readonly database: Database
  readonly channel: string
  onPayload(payload: string): void
  /** Called when notifications arrive again after a gap, in which some may have been missed. */
  onGap(): void
  /** True while notifications arrive. */
  onState(isListening: boolean): void
  /** Called once, when notifications do not come through although the server can be reached. */
  onDeaf(): void
  readonly times?: Partial<ListenerTimes>
}

export interface ListenerTimes {
  /** How often the connection is tested: it can be lost without a word. */
  readonly heartbeatMs: number
  /** How long the server may take to answer. */
  readonly answerMs: number
  /** How long a notification may take. */
  readonly probeMs: number
  /** How long until a server that passed nothing on is tried again. */
  readonly deafMs: number
}

const TIMES: ListenerTimes = { heartbeatMs: 10_000, answerMs: 5_000, probeMs: 1_000, deafMs: 60_000 }

export type Listener = ReturnType<typeof createListener>

type Ending = "lost" | "deaf"

/**
 * Listens on a connection of its own, and on another one when that is lost. A connection alone proves nothing: a pooler
 * that hands out connections by transaction takes a LISTEN and passes nothing on. So a notification is sent through the
 * pool first, and must arrive.
 */
export function createListener(options: ListenerOptions) {
  const { database, channel } = options
  const times = { ...TIMES, ...options.times }
  // The same channel every time, because a pooler keeps every LISTEN that it was ever sent.
  const probe = `meanwhile_probe_${crypto.randomUUID().replaceAll("-", "")}`
  const closing = new AbortController()
  const { signal } = closing
  const ready = Promise.withResolvers<void>()
  let patience = createPatience(Number.POSITIVE_INFINITY, signal)
  let mayHaveMissed = false
  let wasDeaf = false

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const ending = await listen()
      mayHaveMissed = true
      ready.resolve()
      await (ending === "deaf" ? stayDeaf() : patience.pause())
    }
  }

  async function stayDeaf(): Promise<void> {
    if (!wasDeaf) options.onDeaf()
    wasDeaf = true
    await wait(times.deafMs, undefined, { signal, ref: false })
  }

  async function listen(): Promise<Ending> {
    const answer = { connectionTimeoutMillis: times.answerMs, query_timeout: times.answerMs }
    const sockets = createSockets()
    const settings = { ...options.client, ...answer, stream: sockets.create }
    const client: pg.Client & { unref?: () => void } = new pg.Client(settings)
    const over = new AbortController()
    const end = (): void => over.abort()
    client.on("error", end)
    client.once("end", end)
    signal.addEventListener("abort", end)
    try {
      await unlessAborted(over.signal, client.connect())
      await unlessAborted(over.signal, client.query(`LISTEN ${probe}`))
      if (!(await isHeard(client, over.signal))) return over.signal.aborted ? "lost" : "deaf"
      client.on("notification", ({ channel: from, payload }) => {
        if (from === channel) options.onPayload(payload ?? "")
      })
      await unlessAborted(over.signal, client.query(`LISTEN ${channel}`))
      client.unref?.()
      begin()
      for (;;) {
        await wait(times.heartbeatMs, undefined, { signal: over.signal, ref: false })
        await unlessAborted(over.signal, client.query("SELECT 1"))
      }
    } catch {
      return "lost"
    } finally {
      signal.removeEventListener("abort", end)
      options.onState(false)
      sockets.destroyAll()
    }
  }

  function begin(): void {
    options.onState(true)
    if (mayHaveMissed) options.onGap()
    patience = createPatience(Number.POSITIVE_INFINITY, signal)
    ready.resolve()
  }

  async function isHeard(client: pg.Client, over: AbortSignal): Promise<boolean> {
    const arrival = new AbortController()
    const hear = ({ channel: from }: pg.Notification): void => {
      if (from === probe) arrival.abort()
    }
    client.on("notification", hear)
    try {
      await unlessAborted(over, database.query("SELECT pg_notify($1, '')", [probe]))
      await wait(times.probeMs, undefined, { signal: AbortSignal.any([arrival.signal, over]) })
      // This process may have been too busy to read what had arrived.
      await turn()
    } catch (error) {
      if (!arrival.signal.aborted && !over.aborted) throw error
    } finally {
      client.off("notification", hear)
    }
    return arrival.signal.aborted && !over.aborted
  }

  const running = run().catch(() => {})
  return {
    /** Resolves once it is known whether notifications arrive, or that the server cannot be reached now. */
    isReady: ready.promise,
    async close(): Promise<void> {
      closing.abort()
      await running
    },
  }
}
