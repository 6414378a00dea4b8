import type { JobInsert } from "pg-boss"
import { toErrorMessage } from "../../base/error.ts"
import type { Database, Query } from "./connection/database.ts"
import { QUEUE_VERSION, readQueueVersion, toQueueSchema } from "./queue-schema.ts"

export interface JobReference {
  readonly id: string
  readonly plugin: string
}

/** A job stands for one stay of a run in the queue: its id says of which task. */
export interface NewJob extends JobReference {
  readonly workspace: string
  readonly priority: number
  /** By wall time. Undefined: at once. */
  readonly startAt?: number
}

/** A job that nobody else is handed until it is removed, given back, or its holder has been silent for ten seconds. */
export interface FetchedJob {
  readonly id: string
  readonly retryCount: number
}

export interface FetchRequest {
  readonly limit: number
  /** Jobs of these workspaces stay where they are. */
  readonly without?: readonly string[]
  /** Only jobs of a higher priority than this. */
  readonly above?: number
}

/** pg-boss, as far as it is used: a queue for each plugin, whose jobs are pulled in batches and removed once they are done. */
export interface Boss {
  /** In the transaction of `query`, but for a queue that is not there yet. A job that is there already stays as it is. */
  insert(query: Query, jobs: readonly NewJob[]): Promise<void>
  /** Highest priority first, then the oldest. */
  fetch(plugin: string, request: FetchRequest): Promise<readonly FetchedJob[]>
  /** Whoever holds them, and also when nobody does. */
  remove(query: Query, jobs: readonly JobReference[]): Promise<void>
  /** They take their old places. Those that were lost to somebody else are left alone. */
  giveBack(plugin: string, jobs: readonly FetchedJob[]): Promise<void>
  /** Of jobs that nobody holds. */
  prioritize(query: Query, jobs: readonly NewJob[]): Promise<void>
  /** Gives back what the dead hold. Any number of processes may do this: they share the work. */
  supervise(): Promise<void>
  close(): Promise<void>
}

/** The lowest that pg-boss takes. */
const HEARTBEAT_SECONDS = 10
const SUPERVISE_SECONDS = 20
/** As long as an interval can be: a queued job never disappears by its age. */
const FOR_EVER_SECONDS = 2_147_483_647
/** Being given back counts as a retry. */
const RETRY_LIMIT = 1_000_000_000
const HIGHEST_PRIORITY = 2_147_483_647
/** Whoever holds a job need not be remembered when the server crashes: the job is handed out again. */
const WITHOUT_WAITING = "SET LOCAL synchronous_commit TO off"
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
  const hasty = toExecutor((statement, values) =>
    database.query(
      values?.length || typeof statement !== "string" ? statement : `${WITHOUT_WAITING}; ${statement}`,
      values,
    ),
  )

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

  async function byQueue<Job extends JobReference>(
    jobs: readonly Job[],
    work: (name: string, ofQueue: readonly Job[]) => Promise<unknown>,
  ): Promise<void> {
    const groups = [...Map.groupBy(jobs, ({ plugin }) => plugin)]
    await Promise.all(groups.map(async ([plugin, ofQueue]) => work(await queueOf(plugin), ofQueue)))
  }

  return {
    insert: (query, jobs) =>
      byQueue(jobs, (name, ofQueue) => boss.insert(name, ofQueue.map(toInsert), { db: toExecutor(query) })),
    remove: (query, jobs) =>
      byQueue(jobs, (name, ofQueue) => {
        const ids = ofQueue.map(({ id }) => id)
        return boss.deleteJob(name, ids, { db: toExecutor(query) })
      }),
    prioritize: (query, jobs) =>
      byQueue(jobs, async (name, ofQueue) => {
        const db = toExecutor(query)
        for (const { id, priority } of ofQueue) await boss.update(name, undefined, { id, priority, db })
      }),
    async fetch(plugin, { limit, without = [], above }) {
      if (above !== undefined && above >= HIGHEST_PRIORITY) return []
      const jobs = await boss.fetch(await queueOf(plugin), {
        batchSize: limit,
        db: hasty,
        ...(without.length === 0 ? {} : { ignoreGroups: [...without] }),
        ...(above === undefined ? {} : { minPriority: above + 1 }),
      })
      return jobs.map(({ id, retryCount }) => ({ id, retryCount }))
    },
    async giveBack(plugin, jobs) {
      if (jobs.length > 0) await boss.fail(await queueOf(plugin), [...jobs], null, { db: hasty })
    },
    supervise: () => boss.supervise(),
    close: () => boss.stop({ graceful: false, close: false }),
  }
}

/** Only these characters are allowed in the name of a queue; a slash stands on both sides of any other's number. */
function toQueueName(plugin: string): string {
  return `plugin.${plugin.replaceAll(/[^\w.-]/gu, (character) => `/${character.codePointAt(0)?.toString(16)}/`)}`
}

function toInsert({ id, priority, workspace, startAt }: NewJob): JobInsert {
  return {
    id,
    priority,
    ...(workspace === "" ? {} : { group: { id: workspace } }),
    ...(startAt === undefined ? {} : { startAfter: new Date(Math.min(startAt, LATEST_START)).toISOString() }),
  }
}

function toExecutor(query: Query): { executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }> } {
  return { executeSql: async (text, values) => ({ rows: [...(await query<unknown>(text, values))] }) }
}
