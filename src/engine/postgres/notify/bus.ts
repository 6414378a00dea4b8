import type { Wake } from "../../../task/bus.ts"
import { createLocalBus } from "../../rules/local-bus.ts"
import { toClientSettings, withoutSessionSettings } from "../connection/client-settings.ts"
import type { ConnectionOptions, Database, Query } from "../connection/database.ts"
import { createListener, type ListenerTimes } from "./listener.ts"
import { fromPayload, isFrom, type News, toPayloads } from "./wake-payload.ts"

export type PostgresBus = Awaited<ReturnType<typeof createBus>>

interface BusOptions extends ConnectionOptions {
  readonly database: Database
  /** Called when something may have been queued, here or elsewhere. */
  onOffers(): void
  /** Warns the person who runs this process. */
  warn(message: string): void
  readonly times?: Partial<BusTimes>
}

export interface BusTimes extends ListenerTimes {
  /** How often changes are looked for while no notifications arrive. */
  readonly pollMs: number
  /** The same while notifications arrive. */
  readonly safetyMs: number
}

const POLL_MS = 250
const SAFETY_MS = 30_000

/** Hears of commits of other processes by NOTIFY, or by polling if that does not work. Resolves once it is known which. */
export async function createBus(options: BusOptions) {
  const { database, onOffers, warn, times = {} } = options
  const { client, schema } = toClientSettings(options)
  const { pollMs = POLL_MS, safetyMs = SAFETY_MS } = times
  const sender = crypto.randomUUID()
  const channel = `${schema}_changes`
  const local = createLocalBus(() => {})
  const poll = createChangePoll(database, lookAgain)

  function lookAgain(): void {
    local.publishUnknown()
    onOffers()
  }

  /** Called after the commit: wakes listeners of this process directly. */
  function publish(changes: readonly News[]): void {
    for (const { wakes } of changes) local.publish(wakes)
    if (changes.some(({ hasOffers }) => hasOffers)) onOffers()
  }

  const listener = createListener({
    // The settings that a pooler refuses are not needed here, nor is pipelining.
    client: { ...withoutSessionSettings(client), pipeline: false },
    database,
    channel,
    onPayload(payload) {
      if (isFrom(payload, sender)) return
      const message = fromPayload(payload)
      if (!message || message.wakes.some(({ about }) => about === "unknown")) lookAgain()
      else publish([{ ...message, wakes: message.wakes.map(toForeign) }])
    },
    onGap: lookAgain,
    onState: (isListening) => poll.every(isListening ? safetyMs : pollMs),
    onDeaf: () => warn(toDeafMessage(pollMs)),
    times,
  })
  await listener.isReady

  return {
    subscribe: local.subscribe,
    subscribeTask: local.subscribeTask,
    /** Sent in the transaction of the changes: other processes hear of them once it is committed, and never otherwise. */
    async notify(query: Query, changes: readonly News[]): Promise<void> {
      const payloads = toPayloads(sender, changes)
      if (payloads.length > 0)
        await query("SELECT pg_notify($1, payload) FROM unnest($2::text[]) payload", [channel, payloads])
    },
    publish,
    async close(): Promise<void> {
      poll.close()
      await listener.close()
    },
  }
}

function toForeign(wake: Wake): Wake {
  return wake.about === "task" ? { ...wake, isForeign: true } : wake
}

function toDeafMessage(pollMs: number): string {
  return `LISTEN does not work on this connection to PostgreSQL, as behind a pooler in transaction mode. Polling for changes of other processes every ${pollMs} ms instead. To hear of them at once, connect to the server itself or to a pooler in session mode.`
}

/**
 * Looks whether anything at all was written. The server's snapshot of its transactions changes with every one that
 * writes, in this database or another of the server. So equal snapshots mean that nothing can have been missed.
 */
function createChangePoll(database: Database, onChange: () => void) {
  let timer: NodeJS.Timeout | undefined
  let intervalMs: number | undefined
  let isClosed = false
  let known: string | undefined

  function schedule(): void {
    clearTimeout(timer)
    if (!isClosed) timer = setTimeout(() => void look(), intervalMs).unref()
  }

  /** A failed look finds nothing: the next read or write of the store reports the error. */
  async function look(): Promise<void> {
    const found = await readTransactions().catch(() => undefined)
    const isChanged = found !== undefined && found !== known
    known = found ?? known
    schedule()
    if (isChanged && !isClosed) onChange()
  }

  async function readTransactions(): Promise<string | undefined> {
    const [row] = await database.query<{ snapshot: string }>("SELECT pg_current_snapshot()::text AS snapshot")
    return row?.snapshot
  }

  return {
    /** Sets how often to look from now on. */
    every(ms: number): void {
      if (ms === intervalMs) return
      intervalMs = ms
      schedule()
    },
    close(): void {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
