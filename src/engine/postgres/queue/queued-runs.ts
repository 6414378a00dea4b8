import type { Clock } from "../../../base/clock.ts"
import { type Offer, type TakeRequest, toPlaceKey } from "../../../task/dispatcher.ts"
import type { SessionId, TaskId } from "../../../task/id.ts"
import type { Query } from "../connection/database.ts"
import { createNaming, toNamedQuery } from "../connection/connection.ts"
import type { QueueEntry } from "./boss.ts"

/** A queued run as the tasks table has it. */
export interface QueuedRun extends QueueEntry {
  readonly id: TaskId
  readonly session: SessionId | null
  readonly workspace: string
  readonly plugin: string
  readonly tool: string
  readonly model: string | null
  readonly folder: string | null
  readonly priority: number
  readonly queuedAt: number
}

export type WorkspacesOfPlugins = ReadonlyMap<string, readonly string[]>

/** A queued run, and whether the worker that asks may take it now. */
export type CheckedRun = QueuedRun & { readonly fits: boolean }

export type QueuedRuns = ReturnType<typeof createQueuedRuns>

const MOST_NAMES = 20

/**
 * The queue as the tasks table has it, which is the truth about it. One filter, `toConditions`, decides which runs fit
 * a request. Without a clock, the server's time counts.
 */
export function createQueuedRuns(query: Query, clock: Clock | undefined) {
  // These queries come again at every look, from a worker whose plugins and limits stay the same.
  const queryNamed = toNamedQuery(query, createNaming(MOST_NAMES))
  const now = (): number | null => clock?.now() ?? null
  return {
    /** Reads the queued ones among these tasks. */
    async read(numbers: readonly number[], request: TakeRequest): Promise<readonly CheckedRun[]> {
      const values: unknown[] = [now(), request.plugins, request.worker]
      const fits = `t.plugin = ANY ($2::text[]) AND ${toConditions(request, values)}`
      return queryNamed(
        `SELECT ${COLUMNS}, ${fits} AS fits FROM tasks t, ${NOW}
         WHERE t.status = 'queued' AND t.number = ANY ($${values.push(numbers)}::bigint[])`,
        values,
      )
    },
    /** Finds the plugins that have something for the request. */
    async pluginsWithWork(request: TakeRequest): Promise<readonly string[]> {
      const [first, ...others] = new Set(request.plugins)
      const values: unknown[] = [now(), first, request.worker]
      const fits = toConditions(request, values)
      // One parameter for each plugin: the server expects a list to be longer than it is, and would make a new plan for
      // each list.
      const places = ["$2", ...others.map((plugin) => `$${values.push(plugin)}`)]
      const rows = await queryNamed<{ plugin: string }>(
        `SELECT p.plugin FROM (VALUES ${places.map((place) => `(${place}::text)`).join(", ")}) AS p (plugin), ${NOW}
         WHERE EXISTS (SELECT FROM tasks t WHERE t.plugin = p.plugin AND ${fits})`,
        values,
      )
      return rows.map(({ plugin }) => plugin)
    },
    /** True if any other workspace has a run in the queue, of any plugin and for any worker. */
    async hasOtherWorkspaces(than: readonly string[]): Promise<boolean> {
      const rows = await queryNamed(WAITING_WORKSPACE, [than])
      return rows.length > 0
    },
    /**
     * The runs that fit the request, in the order of the queue. `without`: by plugin, the workspaces whose runs are
     * left out.
     */
    async find(request: TakeRequest, without?: WorkspacesOfPlugins): Promise<readonly QueuedRun[]> {
      const { plugins, worker, limit } = request
      const values: unknown[] = [now(), plugins, worker, limit]
      if (request.only) return query(toQueryOfOwn(toConditions(request, values)), values)
      const rooms = values.push(plugins.map((plugin) => Math.min(limit, request.room?.get(plugin) ?? limit)))
      const fits = [toConditions(request, values), ...toAbsence(without, values)].join(" AND ")
      return query(toQueryOfAll(fits, `$${rooms}::integer[]`), values)
    },
    async nextDueInMs(): Promise<number | undefined> {
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

const NOW = `(SELECT coalesce($1::bigint, floor(extract(epoch FROM now()) * 1000)::bigint) AS now) AS clock`
/** A run without a delay is due, even after the clock was set back to before the run was queued. */
const IS_DUE = "(t.available_at <= clock.now OR t.available_at <= t.queued_at)"
const COLUMNS = `t.id, t.number, t.run, t.fence, t.session, t.workspace, t.plugin, t.tool, t.model, t.folder, t.priority,
  t.queued_at AS "queuedAt"`
const IN_ORDER = "ORDER BY t.priority DESC, t.queued_at, t.number"

/**
 * Steps from workspace to workspace, so that the long queue of one of them is not read. The order leaves the server one
 * plan, whatever its statistics say.
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

/** Reads the queue of each plugin by itself, so that the long queue of another one is not read. */
function toQueryOfAll(fits: string, rooms: string): string {
  return `SELECT t.* FROM ${NOW}, unnest($2::text[], ${rooms}) AS p (plugin, room)
    CROSS JOIN LATERAL (SELECT ${COLUMNS} FROM tasks t WHERE t.plugin = p.plugin AND ${fits} ${IN_ORDER} LIMIT p.room) AS t
    ORDER BY t.priority DESC, t."queuedAt", t.number LIMIT $4`
}

function toQueryOfOwn(fits: string): string {
  return `SELECT ${COLUMNS} FROM tasks t, ${NOW} WHERE t.plugin = ANY ($2::text[]) AND ${fits} ${IN_ORDER} LIMIT $4`
}

/** The filter of the queue. The third of the values must be the worker. */
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

/** Plugin and tool as one text, which the server can only check row by row, so that it considers no other plan. */
function toToolNames({ plugins, tools }: TakeRequest): readonly string[] {
  return plugins.flatMap((plugin) => [...(tools?.get(plugin) ?? [])].map((tool) => `${plugin}\u0001${tool}`))
}

export function toOffer({ id, run, session, workspace, plugin, model, tool, folder }: QueuedRun): Offer {
  return { taskId: id, run, session, workspace, plugin, model, tool, folder }
}
