import type { Clock } from "../../../base/clock.ts"
import type { Offer, TakeRequest } from "../../../task/dispatcher.ts"
import type { SessionId, TaskId, WorkerId } from "../../../task/id.ts"
import { toPlaceKey } from "../../../task/place.ts"
import type { TaskKind } from "../../../task/record.ts"
import type { Query } from "../connection/database.ts"
import { createNaming, toNamedQuery } from "../connection/naming.ts"
import { LOCKED, LOCKED_COLUMNS } from "../commit/load/lock-tasks.ts"
import type { QueueEntry } from "./ticket-id.ts"

/** A queued run as the tasks table has it. */
export interface QueuedRow extends QueueEntry {
  readonly id: TaskId
  readonly session: SessionId | null
  readonly workspace: string
  readonly plugin: string
  readonly tool: string
  readonly model: string | null
  readonly folder: string | null
  readonly kind: TaskKind
  readonly inputHeldBy: WorkerId | null
  readonly priority: number
  readonly queuedAt: number
  readonly isDue: boolean
}

export type WorkspacesOfPlugins = ReadonlyMap<string, readonly string[]>

/** The queue as the tasks table has it, which is the truth about it. */
export interface QueuedRows {
  /**
   * Makes of a statement that answers tickets by their ids one that locks their runs, as far as they are queued and nobody
   * else has locked them, and answers each with its own.
   */
  withRuns(tickets: string): string
  /** Those of these tasks that are queued. */
  read(numbers: readonly number[]): Promise<readonly QueuedRow[]>
  /** Those of its plugins that have something for the request. */
  pluginsWithWork(request: TakeRequest): Promise<readonly string[]>
  /** Whether any other workspace has something in the queue, for whomever and of whatever plugin. */
  isAnybodyElse(than: readonly string[]): Promise<boolean>
  /** What fits the request, in the order of the queue, of each plugin without what the named workspaces have there. */
  find(request: TakeRequest, without?: WorkspacesOfPlugins): Promise<readonly QueuedRow[]>
  nextDueInMs(): Promise<number | undefined>
}

const MOST_NAMES = 10

/** Without a clock, the time is the server's. */
export function createQueuedRows(query: Query, clock: Clock | undefined): QueuedRows {
  // Asked at every look, by a worker whose plugins and limits stay the same.
  const queryNamed = toNamedQuery(query, createNaming(MOST_NAMES))
  const now = (): number | null => clock?.now() ?? null
  return {
    // By its number alone: in a small table the index of the queue would seem as good, and be walked for every ticket.
    withRuns: (tickets) => `WITH fetched AS (${tickets})
      SELECT fetched.id AS "ticketId", fetched."retryCount", t.*, ${IS_DUE} AS "isDue", ${LOCKED}
      FROM fetched CROSS JOIN ${toClock(String(now()))} LEFT JOIN LATERAL (
        SELECT ${LOCKED_COLUMNS} FROM tasks
        WHERE number = ('x' || left(replace(fetched.id::text, '-', ''), 16))::bit(64)::bigint
        FOR UPDATE SKIP LOCKED) AS t ON t.status || '' = 'queued'`,
    read: (numbers) =>
      numbers.length === 0
        ? Promise.resolve([])
        : query(`SELECT ${COLUMNS} FROM tasks t, ${NOW} WHERE t.status = 'queued' AND t.number = ANY ($2::bigint[])`, [
            now(),
            numbers,
          ]),
    async pluginsWithWork(request) {
      const [first, ...others] = new Set(request.plugins)
      const values: unknown[] = [now(), first, request.worker]
      const fits = toConditions(request, values)
      // One by one: of a list the server expects to be longer than it is, and would make a plan for each that comes.
      const places = ["$2", ...others.map((plugin) => `$${values.push(plugin)}`)]
      const rows = await queryNamed<{ plugin: string }>(
        `SELECT p.plugin FROM (VALUES ${places.map((place) => `(${place}::text)`).join(", ")}) AS p (plugin), ${NOW}
         WHERE EXISTS (SELECT FROM tasks t WHERE t.plugin = p.plugin AND ${fits})`,
        values,
      )
      return rows.map(({ plugin }) => plugin)
    },
    async isAnybodyElse(than) {
      const rows = await queryNamed(WAITING_WORKSPACE, [than])
      return rows.length > 0
    },
    async find(request, without) {
      const { plugins, worker, limit } = request
      const values: unknown[] = [now(), plugins, worker, limit]
      if (request.only) return query(toQueryOfOwn(toConditions(request, values)), values)
      const rooms = values.push(plugins.map((plugin) => Math.min(limit, request.room?.get(plugin) ?? limit)))
      const fits = [toConditions(request, values), ...toAbsence(without, values)].join(" AND ")
      return query(toQueryOfAll(fits, `$${rooms}::integer[]`), values)
    },
    async nextDueInMs() {
      const [row] = await queryNamed<{ due_in: number | null }>(
        `SELECT (SELECT min(t.available_at) FROM tasks t
           WHERE t.status = 'queued' AND t.available_at > t.queued_at AND t.available_at > clock.now) - clock.now AS due_in
         FROM ${NOW}`,
        [now()],
      )
      return row?.due_in ?? undefined
    },
  }
}

const toClock = (now: string): string =>
  `(SELECT coalesce(${now}::bigint, floor(extract(epoch FROM now()) * 1000)::bigint) AS now) AS clock`
const NOW = toClock("$1")
/** What was not put off is due, also after the clock was set back behind the moment it was queued at. */
const IS_DUE = "(t.available_at <= clock.now OR t.available_at <= t.queued_at)"
const RUN_COLUMNS = `t.number, t.run, t.fence, t.session, t.workspace, t.plugin, t.tool, t.model, t.folder, t.kind,
  t.input_held_by AS "inputHeldBy", t.priority, t.queued_at AS "queuedAt", ${IS_DUE} AS "isDue"`
const COLUMNS = `t.id, ${RUN_COLUMNS}`
const IN_ORDER = "ORDER BY t.priority DESC, t.queued_at, t.number"

/**
 * From workspace to workspace, so that a long queue of one of them is not walked. Whatever the server expects to find, by
 * such an order there is one way to it.
 */
const WAITING_WORKSPACE = `WITH RECURSIVE known (workspace) AS (
    (SELECT t.workspace FROM tasks t ORDER BY t.workspace LIMIT 1)
    UNION ALL
    SELECT (SELECT t.workspace FROM tasks t WHERE t.workspace > known.workspace ORDER BY t.workspace LIMIT 1)
    FROM known WHERE known.workspace IS NOT NULL
  )
  SELECT known.workspace FROM known CROSS JOIN LATERAL (
    SELECT t.workspace, t.status FROM tasks t WHERE (t.workspace, t.status) >= (known.workspace, 'queued')
    ORDER BY t.workspace, t.status LIMIT 1) AS first
  WHERE first.workspace = known.workspace AND first.status = 'queued' AND NOT known.workspace = ANY ($1::text[]) LIMIT 1`

/** Plugin by plugin, along the queue of each, so that another's long queue is not walked. */
function toQueryOfAll(fits: string, rooms: string): string {
  return `SELECT t.* FROM ${NOW}, unnest($2::text[], ${rooms}) AS p (plugin, room)
    CROSS JOIN LATERAL (SELECT ${COLUMNS} FROM tasks t WHERE t.plugin = p.plugin AND ${fits} ${IN_ORDER} LIMIT p.room) AS t
    ORDER BY t.priority DESC, t."queuedAt", t.number LIMIT $4`
}

function toQueryOfOwn(fits: string): string {
  return `SELECT ${COLUMNS} FROM tasks t, ${NOW} WHERE t.plugin = ANY ($2::text[]) AND ${fits} ${IN_ORDER} LIMIT $4`
}

/** The worker is the third of the values. */
function toConditions(request: TakeRequest, values: unknown[]): string {
  const add = (list: readonly string[]): string => `ANY ($${values.push(list)}::text[])`
  const conditions = [
    `t.status = 'queued' AND ${IS_DUE} AND (t.input_held_by IS NULL OR t.input_held_by = $3)`,
    `t.kind = ${add(request.kinds)}`,
  ]
  if (request.tools) conditions.push(`t.plugin || chr(1) || t.tool = ${add(toToolNames(request))}`)
  if (request.fullSessions.length > 0)
    conditions.push(`(t.session IS NULL OR NOT t.session = ${add(request.fullSessions)})`)
  if (request.fullModels.length > 0) conditions.push(`(t.model IS NULL OR NOT t.model = ${add(request.fullModels)})`)
  if (request.fullWorkspaces.length > 0) conditions.push(`NOT t.workspace = ${add(request.fullWorkspaces)}`)
  if (request.missing?.length)
    conditions.push(
      `(t.folder IS NULL OR NOT t.plugin || chr(1) || t.tool || chr(1) || t.folder = ${add(request.missing.map(toPlaceKey))})`,
    )
  if (request.only) conditions.push(`(t.session = ${add(request.only.sessions)} OR t.id = ${add(request.only.tasks)})`)
  return conditions.join(" AND ")
}

function toAbsence(without: WorkspacesOfPlugins = new Map(), values: unknown[]): readonly string[] {
  const names = [...without].flatMap(([plugin, workspaces]) => workspaces.map((each) => `${plugin}\u0001${each}`))
  return names.length === 0 ? [] : [`NOT t.plugin || chr(1) || t.workspace = ANY ($${values.push(names)}::text[])`]
}

/** With its plugin's before it each is one word: rows are looked at one by one, and no other way to them is considered. */
function toToolNames({ plugins, tools }: TakeRequest): readonly string[] {
  return plugins.flatMap((plugin) => [...(tools?.get(plugin) ?? [])].map((tool) => `${plugin}\u0001${tool}`))
}

/** Says of a row what the conditions above ask of it. */
export function createFits(request: TakeRequest): (row: QueuedRow) => boolean {
  const { worker, tools } = request
  const plugins = new Set(request.plugins)
  const kinds = new Set(request.kinds)
  const sessions = new Set(request.fullSessions)
  const models = new Set(request.fullModels)
  const workspaces = new Set(request.fullWorkspaces)
  const missing = new Set(request.missing?.map(toPlaceKey))
  return ({ plugin, tool, folder, kind, session, model, workspace, inputHeldBy, isDue }) =>
    isDue &&
    plugins.has(plugin) &&
    (!tools || tools.get(plugin)?.has(tool) === true) &&
    kinds.has(kind) &&
    (session === null || !sessions.has(session)) &&
    (model === null || !models.has(model)) &&
    !workspaces.has(workspace) &&
    (folder === null || !missing.has(toPlaceKey({ plugin, tool, folder }))) &&
    (inputHeldBy === null || inputHeldBy === worker)
}

export function toOffer({ id, run, session, workspace, plugin, model, tool, folder }: QueuedRow): Offer {
  return { taskId: id, run, session, workspace, plugin, model, tool, folder }
}
