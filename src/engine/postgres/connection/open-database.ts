import { createAvailability } from "./availability.ts"
import { createTransactions } from "./transaction.ts"
import { DEFAULT_POOL_SIZE, toClientSettings } from "./client-settings.ts"
import { createConnections } from "./connections.ts"
import type { Database, DatabaseOptions, Query, Statement } from "./database.ts"
import { toOwnerColumn, toOwnerCommand } from "./owner-command.ts"
import { closed, createPatience } from "./patience.ts"
import { IS_READ_ONLY, readOnly } from "./probe-server.ts"
import { type StoreName, toStoreError } from "./store-error.ts"

const PATIENCE_MS = 60_000
const START_PATIENCE_MS = 5_000
const TELL_AFTER_MS = 800
/** A server that is back answers earlier statements within this time, or has never received them. */
const LATE_ANSWER_MS = 5_000

/** Connects once, so that a wrong URL shows at once. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { poolSize = DEFAULT_POOL_SIZE, patienceMs = PATIENCE_MS, startPatienceMs = START_PATIENCE_MS } = options
  const { leaving = new AbortController().signal, tell = () => {} } = options
  const settings = toClientSettings(options)
  const { server: place, role } = settings
  let owner: string | null = null
  const name: StoreName = {
    server: place,
    role,
    toOwnerCommand: (grantTo) => toOwnerCommand(options.url, owner, grantTo),
  }
  const closing = new AbortController()
  const gone = new AbortController()
  const underWay = new Set<Promise<unknown>>()
  let isOpen = false
  const hasLeft = (): boolean => closing.signal.aborted || leaving.aborted

  const server = createAvailability({
    settings,
    name,
    tell: (line) => void (isOpen && tell(line)),
    isAwaited: () => !hasLeft(),
    onAway(isAway) {
      options.onAway?.(isAway)
      if (isAway) leaveIfAway()
    },
    onReached() {
      // Without a time limit a statement may still be running. The keep-alive finds out whether its connection is dead.
      if (options.statementTimeoutMs === 0) return
      const backAtMs = performance.now()
      setTimeout(() => connections.giveUp(backAtMs), LATE_ANSWER_MS).unref()
    },
  })
  const connections = createConnections({ settings, size: poolSize, onDoubt: server.doubt })

  function leaveIfAway(): void {
    if (hasLeft() && server.isAway()) {
      if (!gone.signal.aborted) options.onGone?.()
      gone.abort()
      connections.cut()
      // Probes the server now, and not when the next statement is sent.
    } else if (hasLeft() && underWay.size > 0) server.doubt()
  }

  async function ask<Row>(statement: string | Statement, values: readonly unknown[] | undefined, forMs: number) {
    const patience = createPatience(forMs, closing.signal, gone.signal)
    for (;;) {
      try {
        return await connections.use((connection) => connection.runAlone<Row>(statement, values))
      } catch (error) {
        if (!(await patience.waitToRetry(error))) throw toStoreError(error, name)
      }
    }
  }

  /** Statements that are under way when the store is closed may end, but are not tried again. */
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
    name,
    createPatience: (whenAway) =>
      createPatience(patienceMs, closing.signal, gone.signal, () => whenAway === "refuse" && server.isAway()),
    beginWrite: server.beginWrite,
  })
  const query: Query = (statement, values) => accept(() => ask(statement, values, patienceMs))

  let closedOnce: Promise<void> | undefined
  async function close(): Promise<void> {
    closing.abort()
    leaveIfAway()
    await Promise.allSettled(underWay)
    leaving.removeEventListener("abort", leaveIfAway)
    await Promise.all([server.close(), connections.close()])
  }

  leaving.addEventListener("abort", leaveIfAway)
  const waits = `The store at ${place} does not answer yet. Waiting for it, up to ${startPatienceMs / 1_000} s.`
  using _ = setTimeout(() => tell(waits), TELL_AFTER_MS)
  try {
    const first = `${IS_READ_ONLY}, ${toOwnerColumn(settings.schema)}`
    const [found] = await accept(() => ask<FirstLook>(first, undefined, startPatienceMs))
    if (found?.is_read_only) throw toStoreError(readOnly(), name)
    owner = found?.owner ?? null
    server.confirm()
    isOpen = true
  } catch (error) {
    await close()
    throw error
  }
  return {
    query,
    transaction: (work, options) => accept(() => runTransaction(work, options)),
    away: server.away,
    unreachable: server.unreachable,
    toOwnerCommand: name.toOwnerCommand,
    close: () => (closedOnce ??= close()),
  }
}

interface FirstLook {
  readonly is_read_only: boolean
  readonly owner: string
}
