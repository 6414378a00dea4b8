import type { Clock } from "../../base/clock.ts"
import type { Wake } from "../../task/bus.ts"
import { type Dispatcher, type Offer, type TakeRequest, toPlaceKey } from "../../task/dispatcher.ts"
import { TASK_KINDS } from "../../task/record.ts"
import { addTo, callSafely } from "../rules/local-bus.ts"
import { createFairTake, type QueuedRun } from "./fair-take.ts"
import type { Read } from "./sqlite/busy-retry.ts"
import { given, toWhere, type Where } from "./sqlite/condition.ts"
import { LIMIT, type Prepare } from "./sqlite/statement.ts"

export interface EmbeddedDispatcher extends Dispatcher {
  /** Tells listeners that something may have been queued, here or elsewhere. */
  announce(): void
  /** Takes the wake-ups of what was committed here. */
  note(wakes: readonly Wake[]): void
}

const NO_TOOLS: ReadonlySet<string> = new Set()

/** The tasks are the queue: every queued run is offered, so there is no second list to keep in step. */
export function createDispatcher(
  prepare: Prepare,
  clock: Clock,
  read: Read,
  onSubscription: (by: 1 | -1) => void,
): EmbeddedDispatcher {
  const listeners = new Set<() => void>()
  const nextDue = prepare<{ due: number | null }>(`SELECT min(available_at) AS due FROM tasks INDEXED BY tasks_delayed
     WHERE status = 'queued' AND available_at > queued_at AND available_at > ?`)

  /** A run without a delay is due, even if the clock was set back to before it was queued. */
  function findOf(plugin: string, request: TakeRequest, tools?: ReadonlySet<string>): QueuedRun[] {
    const { where, parameters } = toConditions(request, tools)
    const sql = `SELECT number, id AS taskId, run, session, workspace, plugin, tool, model, folder, priority, queued_at AS queuedAt
      FROM tasks INDEXED BY tasks_queue
      WHERE status = 'queued' AND plugin = ? AND (available_at <= ? OR available_at <= queued_at) AND (input_held_by IS NULL OR input_held_by = ?)
      AND ${where} ORDER BY priority DESC, queued_at, number ${LIMIT}`
    return prepare<QueuedRun>(sql).all(plugin, clock.now(), request.worker, ...parameters, request.limit)
  }

  /**
   * A worker nearly always has all tools of a plugin, so the first query does not filter by tool. Only if it finds a
   * tool that the worker lacks, a second query does.
   */
  function takeOf(plugin: string, request: TakeRequest): QueuedRun[] {
    const limit = Math.min(request.limit, request.room?.get(plugin) ?? request.limit)
    const tools = request.tools && (request.tools.get(plugin) ?? NO_TOOLS)
    const found = findOf(plugin, { ...request, limit })
    return !tools || found.every(({ tool }) => tools.has(tool)) ? found : findOf(plugin, { ...request, limit }, tools)
  }

  const fairTake = createFairTake(prepare, clock, takeOf)

  return {
    take: (request) =>
      read(() => {
        if (request.limit < 1) return []
        return fairTake.take(request).map(toOffer)
      }),
    decline() {},
    note: fairTake.note,
    onOffer: (listener) => addTo(listeners, () => listener(), onSubscription),
    nextDueInMs: () =>
      read(() => {
        const now = clock.now()
        const due = nextDue.get(now)?.due ?? null
        return due === null ? undefined : due - now
      }),
    announce() {
      for (const listener of listeners) callSafely(listener)
    },
  }
}

/** A list is passed as one value, so that the text of the query stays the same. */
const LISTED = "(SELECT value FROM json_each(?))"

function toConditions(request: TakeRequest, tools?: ReadonlySet<string>): Where {
  const { kinds, fullSessions, fullModels, fullWorkspaces, missing = [], only } = request
  const unless = (sql: string, values: readonly string[]) => given(sql, values.length > 0 ? toList(values) : undefined)
  return toWhere([
    given(`tool IN ${LISTED}`, tools && toList([...tools])),
    given(`kind IN ${LISTED}`, kinds.length < TASK_KINDS.length ? toList(kinds) : undefined),
    unless(`(session IS NULL OR session NOT IN ${LISTED})`, fullSessions),
    unless(`(model IS NULL OR model NOT IN ${LISTED})`, fullModels),
    unless(`workspace NOT IN ${LISTED}`, fullWorkspaces),
    unless(
      `(folder IS NULL OR plugin || char(1) || tool || char(1) || folder NOT IN ${LISTED})`,
      missing.map(toPlaceKey),
    ),
    only && {
      sql: `(session IN ${LISTED} OR id IN ${LISTED})`,
      values: [toList(only.sessions), toList(only.tasks)],
    },
  ])
}

const toList = (values: readonly string[]): string => JSON.stringify(values)

function toOffer({ taskId, run, session, workspace, plugin, model, tool, folder }: QueuedRun): Offer {
  return { taskId, run, session, workspace, plugin, model, tool, folder }
}
