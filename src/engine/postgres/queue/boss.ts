import type { JobInsert } from "pg-boss"
import { toErrorMessage } from "../../../base/error.ts"
import type { Database, Query } from "../connection/database.ts"
import { QUEUE_VERSION, readQueueVersion, toExecutor, toQueueSchema } from "../schema/queue-schema.ts"
import { findLackingOwnership } from "../schema/role-rights.ts"

export interface TicketReference {
  readonly id: string
  readonly plugin: string
}

/** A ticket stands for one stay of a run in the queue; its id tells the task. To pg-boss it is a job. */
export interface NewTicket extends TicketReference {
  readonly workspace: string
  readonly priority: number
  /** By wall time. Undefined: at once. */
  readonly startAt?: number
}

/**
 * A ticket that no other process is handed until it is removed, given back, or its holder has been silent for ten
 * seconds.
 */
export interface FetchedTicket {
  readonly id: string
  readonly retryCount: number
}

export interface FetchRequest {
  readonly limit: number
  /** Tickets of these workspaces stay in the queue. */
  readonly without?: readonly string[]
  /** Only tickets of a higher priority than this. */
  readonly above?: number
}

/**
 * The part of pg-boss that Meanwhile uses, through its documented API: a queue for each plugin, whose tickets are fetched in
 * batches and removed once their runs have left the queue.
 */
export interface Boss {
  /**
   * Inserts in the transaction of `query`, but creates a missing queue outside of it. A ticket that exists stays as
   * it is.
   */
  insert(query: Query, tickets: readonly NewTicket[]): Promise<void>
  /** Highest priority first, then the oldest. */
  fetch(plugin: string, request: FetchRequest): Promise<readonly FetchedTicket[]>
  /** Removes tickets in the transaction of `query`, fetched ones too, whichever process holds them. */
  remove(query: Query, tickets: readonly TicketReference[]): Promise<void>
  /** Puts tickets back into their old places. Tickets that another process has fetched since are left alone. */
  giveBack(plugin: string, tickets: readonly FetchedTicket[]): Promise<void>
  /** Changes the priority of tickets that nobody holds, in the transaction of `query`. */
  prioritize(query: Query, tickets: readonly NewTicket[]): Promise<void>
  /** Gives back the tickets of dead processes. Any number of processes may call this: they share the work. */
  supervise(): Promise<void>
  close(): Promise<void>
}

/** The lowest that pg-boss accepts. */
const HEARTBEAT_SECONDS = 10
const SUPERVISE_SECONDS = 20
/** The longest possible interval: a queued ticket never disappears because of its age. */
const FOR_EVER_SECONDS = 2_147_483_647
/** Giving a ticket back counts as a retry. */
const RETRY_LIMIT = 1_000_000_000
const HIGHEST_PRIORITY = 2_147_483_647
const LATEST_START = Date.UTC(9999, 0)

export async function createBoss(
  database: Database,
  schema: string,
  onError: (message: string) => void,
): Promise<Boss> {
  const { PgBoss } = await import("pg-boss")
  const boss = new PgBoss({
    db: toExecutor(database.query),
    schema: toQueueSchema(schema),
    migrate: await mayMigrate(database, schema),
    supervise: false,
    schedule: false,
    reindex: false,
    monitorVacuum: false,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
  })
  boss.on("error", (error) => onError(toErrorMessage(error)))
  await boss.start()
  const queues = new Map<string, Promise<string>>()

  async function ensureQueue(plugin: string): Promise<string> {
    const name = toQueueName(plugin)
    if (await boss.getQueue(name)) return name
    const options = { heartbeatSeconds: HEARTBEAT_SECONDS, retentionSeconds: FOR_EVER_SECONDS, retryLimit: RETRY_LIMIT }
    await boss.createQueue(name, { policy: "standard", retryDelay: 0, ...options })
    return name
  }

  function queueOf(plugin: string): Promise<string> {
    const known = queues.get(plugin)
    if (known) return known
    const made = ensureQueue(plugin)
    queues.set(plugin, made)
    made.catch(() => queues.delete(plugin))
    return made
  }

  async function byQueue<Ticket extends TicketReference>(
    tickets: readonly Ticket[],
    work: (name: string, ofQueue: readonly Ticket[]) => Promise<unknown>,
  ): Promise<void> {
    const groups = [...Map.groupBy(tickets, ({ plugin }) => plugin)]
    await settleAll(groups.map(async ([plugin, ofQueue]) => work(await queueOf(plugin), ofQueue)))
  }

  return {
    insert: (query, tickets) =>
      byQueue(tickets, (name, ofQueue) => boss.insert(name, ofQueue.map(toInsert), { db: toExecutor(query) })),
    async fetch(plugin, { limit, without = [], above }) {
      if (above !== undefined && above >= HIGHEST_PRIORITY) return []
      return boss.fetch(await queueOf(plugin), {
        batchSize: limit,
        ...(without.length === 0 ? {} : { ignoreGroups: [...without] }),
        ...(above === undefined ? {} : { minPriority: above + 1 }),
      })
    },
    remove: (query, tickets) =>
      byQueue(tickets, (name, ofQueue) => {
        const ids = ofQueue.map(({ id }) => id)
        return boss.deleteJob(name, ids, { db: toExecutor(query) })
      }),
    async giveBack(plugin, tickets) {
      if (tickets.length > 0) await boss.fail(await queueOf(plugin), [...tickets])
    },
    prioritize: (query, tickets) =>
      byQueue(tickets, async (name, ofQueue) => {
        const db = toExecutor(query)
        for (const { id, priority } of ofQueue) await boss.update(name, undefined, { id, priority, db })
      }),
    supervise: () => boss.supervise(),
    close: () => boss.stop({ graceful: false, close: false }),
  }
}

/**
 * True if pg-boss may migrate, although the tables were migrated before. A role that owns them lets pg-boss build in
 * the background what a migration has left to be built. And pg-boss accepts newer tables, which it can work with, only
 * if it may migrate.
 */
async function mayMigrate(database: Database, schema: string): Promise<boolean> {
  if ((await findLackingOwnership(database, schema)) === null) return true
  return (await readQueueVersion(database.query, schema)) > QUEUE_VERSION
}

/** Replaces every character that is not allowed in the name of a queue by its number between two slashes. */
function toQueueName(plugin: string): string {
  return `plugin.${plugin.replaceAll(/[^\w.-]/gu, (character) => `/${character.codePointAt(0)?.toString(16)}/`)}`
}

function toInsert({ id, priority, workspace, startAt }: NewTicket): JobInsert {
  return {
    id,
    priority,
    ...(workspace === "" ? {} : { group: { id: workspace } }),
    ...(startAt === undefined ? {} : { startAfter: new Date(Math.min(startAt, LATEST_START)).toISOString() }),
  }
}

/**
 * Waits for all work, and then throws the first error: while some of it is under way, the connection that it shares
 * must not be given to anybody else.
 */
async function settleAll(work: readonly Promise<unknown>[]): Promise<void> {
  const outcomes = await Promise.allSettled(work)
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason
}

/**
 * One stay of a run in the queue. A run that comes back to the queue was claimed in between, which raised its fence, so
 * no two stays have the same numbers.
 */
export interface QueueEntry {
  /** The number of the task. */
  readonly number: number
  readonly run: number
  readonly fence: number
}

/**
 * Writes a queue entry as a uuid. A task's id gives the id of its ticket, and a ticket's id gives its task. Inserting a
 * ticket for the same stay in the queue again inserts the same ticket.
 */
export function toTicketId({ number, run, fence }: QueueEntry): string {
  const task = toHex(number, 16)
  const stay = toHex(run, 8) + toHex(fence, 8)
  return `${task.slice(0, 8)}-${task.slice(8, 12)}-${task.slice(12)}-${stay.slice(0, 4)}-${stay.slice(4)}`
}

export function toQueueEntry(ticketId: string): QueueEntry {
  const digits = ticketId.replaceAll("-", "")
  return {
    number: Number.parseInt(digits.slice(0, 16), 16),
    run: Number.parseInt(digits.slice(16, 24), 16),
    fence: Number.parseInt(digits.slice(24), 16),
  }
}

function toHex(value: number, length: number): string {
  return value.toString(16).padStart(length, "0")
}
