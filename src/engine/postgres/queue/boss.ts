import type { JobInsert } from "pg-boss"
import { toErrorMessage } from "../../../base/error.ts"
import type { Database, Query } from "../connection/database.ts"
import { createNaming, toNamedQuery } from "../connection/naming.ts"
import { toLockingFetch } from "./locking-fetch.ts"
import { settleAll } from "./settle-all.ts"
import { QUEUE_VERSION, readQueueVersion, toQueueSchema } from "../schema/queue-schema.ts"

export interface TicketReference {
  readonly id: string
  readonly plugin: string
}

/** A ticket stands for one stay of a run in the queue: its id says of which task. To pg-boss it is a job. */
export interface NewTicket extends TicketReference {
  readonly workspace: string
  readonly priority: number
  /** By wall time. Undefined: at once. */
  readonly startAt?: number
}

/** A ticket that nobody else is handed until it is removed, given back, or its holder has been silent for ten seconds. */
export interface FetchedTicket {
  readonly id: string
  readonly retryCount: number
}

/** A ticket that nobody else is handed until the transaction ends, and afterwards only if that has not removed it. */
export interface LockedTicket {
  readonly id: string
  readonly retryCount: null
}

export interface FetchRequest {
  /** In the transaction of this one. */
  readonly query: Query
  readonly limit: number
  /** Tickets of these workspaces stay where they are. */
  readonly without?: readonly string[]
  /** Only tickets of a higher priority than this. */
  readonly above?: number
  /** Makes of a statement that answers tickets one that answers more of each. */
  readonly toStatement?: (tickets: string) => string
}

/** pg-boss, as far as it is used: a queue for each plugin, whose tickets are pulled in batches and removed once they are done. */
export interface Boss {
  /** In the transaction of `query`, but for a queue that is not there yet. A ticket that is there already stays as it is. */
  insert(query: Query, tickets: readonly NewTicket[]): Promise<void>
  /** As `fetch` does. Nothing is written on them, which costs half. */
  lock<More = unknown>(plugin: string, request: FetchRequest): Promise<readonly (LockedTicket & More)[]>
  /** Highest priority first, then the oldest. */
  fetch<More = unknown>(plugin: string, request: FetchRequest): Promise<readonly (FetchedTicket & More)[]>
  /** Whoever holds them, and also when nobody does. */
  remove(query: Query, tickets: readonly TicketReference[]): Promise<void>
  /** They take their old places. Those that were lost to somebody else are left alone. */
  giveBack(plugin: string, tickets: readonly FetchedTicket[]): Promise<void>
  /** Of tickets that nobody holds. */
  prioritize(query: Query, tickets: readonly NewTicket[]): Promise<void>
  /** Gives back what the dead hold. Any number of processes may do this: they share the work. */
  supervise(): Promise<void>
  close(): Promise<void>
}

/** The lowest that pg-boss takes. */
const HEARTBEAT_SECONDS = 10
const SUPERVISE_SECONDS = 20
/** As long as an interval can be: a queued ticket never disappears by its age. */
const FOR_EVER_SECONDS = 2_147_483_647
/** Being given back counts as a retry. */
const RETRY_LIMIT = 1_000_000_000
const HIGHEST_PRIORITY = 2_147_483_647
/** Of the statements that lock tickets: one or a few for each plugin. */
const MOST_NAMES = 100
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
    // Its tables are migrated with ours. Told not to migrate it refuses newer ones too, which it can work with.
    migrate: (await readQueueVersion(database.query, schema)) > QUEUE_VERSION,
    supervise: false,
    schedule: false,
    reindex: false,
    monitorVacuum: false,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
  })
  boss.on("error", (error) => onError(toErrorMessage(error)))
  await boss.start()
  const queues = new Map<string, Promise<string>>()
  const statementOf = createNaming(MOST_NAMES)

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

  async function choose<Ticket>(
    plugin: string,
    { limit, without = [], above }: FetchRequest,
    executeSql: (fetch: string, values?: readonly unknown[]) => Promise<{ rows: unknown[] }>,
  ): Promise<readonly Ticket[]> {
    if (above !== undefined && above >= HIGHEST_PRIORITY) return []
    const tickets: readonly unknown[] = await boss.fetch(await queueOf(plugin), {
      batchSize: limit,
      db: { executeSql },
      ...(without.length === 0 ? {} : { ignoreGroups: [...without] }),
      ...(above === undefined ? {} : { minPriority: above + 1 }),
    })
    return tickets as readonly Ticket[]
  }

  return {
    insert: (query, tickets) =>
      byQueue(tickets, (name, ofQueue) => boss.insert(name, ofQueue.map(toInsert), { db: toExecutor(query) })),
    remove: (query, tickets) =>
      byQueue(tickets, (name, ofQueue) => {
        const ids = ofQueue.map(({ id }) => id)
        return boss.deleteJob(name, ids, { db: toExecutor(query) })
      }),
    prioritize: (query, tickets) =>
      byQueue(tickets, async (name, ofQueue) => {
        const db = toExecutor(query)
        for (const { id, priority } of ofQueue) await boss.update(name, undefined, { id, priority, db })
      }),
    lock: (plugin, request) =>
      choose(plugin, request, (fetch, given) => {
        const { text, values } = toLockingFetch(fetch, given)
        return ask(toNamedQuery(request.query, statementOf), toStatementOf(request)(text), values)
      }),
    // Without a name: the plan that was made for a short queue would be kept for a long one.
    fetch: (plugin, request) =>
      choose(plugin, request, (fetch, values) => ask(request.query, toStatementOf(request)(fetch), values)),
    async giveBack(plugin, tickets) {
      if (tickets.length > 0) await boss.fail(await queueOf(plugin), [...tickets])
    },
    supervise: () => boss.supervise(),
    close: () => boss.stop({ graceful: false, close: false }),
  }
}

/** Only these characters are allowed in the name of a queue; a slash stands on both sides of any other's number. */
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

function toStatementOf({ toStatement = (tickets) => tickets }: FetchRequest): (tickets: string) => string {
  return toStatement
}

function toExecutor(query: Query) {
  return { executeSql: (text: string, values?: readonly unknown[]) => ask(query, text, values) }
}

async function ask(query: Query, text: string, values?: readonly unknown[]): Promise<{ rows: unknown[] }> {
  return { rows: [...(await query<unknown>(text, values))] }
}
