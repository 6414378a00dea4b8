import type { DatabaseSync, SQLInputValue } from "node:sqlite"
import type { Clock } from "../../base/clock.ts"
import type { Wake } from "../../task/bus.ts"
import type { Dispatcher, Offer, TakeRequest } from "../../task/dispatcher.ts"
import { toPlaceKey } from "../../task/place.ts"
import { TASK_KINDS } from "../../task/record.ts"
import { addTo, callSafely } from "../rules/local-bus.ts"
import { createFairTake, type QueuedRun } from "./fair-take.ts"
import type { Read } from "./sqlite/busy-retry.ts"
import { createStatementCache, LIMIT, prepare } from "./sqlite/statement.ts"

export interface EmbeddedDispatcher extends Dispatcher {
  /** Something was queued, here or elsewhere. */
  announce(): void
  /** These changed, by what was committed here. */
  note(wakes: readonly Wake[]): void
}

const NO_TOOLS: ReadonlySet<string> = new Set()

/** The queue is the tasks themselves: a run that is queued is offered, so there is nothing to keep in step. */
export function createDispatcher(
  database: DatabaseSync,
  clock: Clock,
  read: Read,
  onSubscription: (by: 1 | -1) => void,
): EmbeddedDispatcher {
  const listeners = new Set<() => void>()
  const statement = createStatementCache(database)
  const nextDue = prepare<{ due: number | null }>(
    database,
    `SELECT min(available_at) AS due FROM tasks INDEXED BY tasks_delayed
     WHERE status = 'queued' AND available_at > queued_at AND available_at > ?`,
  )

  /** Offers without a delay are due, even if the clock was set back to before they were queued. */
  function findOf(plugin: string, request: TakeRequest, tools?: ReadonlySet<string>): QueuedRun[] {
    const parameters: SQLInputValue[] = [plugin, clock.now(), request.worker]
    const sql = `SELECT number, id AS taskId, run, session, workspace, plugin, tool, model, folder, priority, queued_at AS queuedAt
      FROM tasks INDEXED BY tasks_queue
      WHERE status = 'queued' AND plugin = ? AND (available_at <= ? OR available_at <= queued_at) AND (input_held_by IS NULL OR input_held_by = ?)
      ${toConditions(request, parameters, tools)} ORDER BY priority DESC, queued_at, number ${LIMIT}`
    return statement<QueuedRun>(sql).all(...parameters, request.limit)
  }

  /** A worker with a plugin nearly always has all of its tools: only a worker that lacks some filters by tool. */
  function takeOf(plugin: string, request: TakeRequest): QueuedRun[] {
    const limit = Math.min(request.limit, request.room?.get(plugin) ?? request.limit)
    const tools = request.tools && (request.tools.get(plugin) ?? NO_TOOLS)
    const found = findOf(plugin, { ...request, limit })
    return !tools || found.every(({ tool }) => tools.has(tool)) ? found : findOf(plugin, { ...request, limit }, tools)
  }

  const fairTake = createFairTake(database, clock, takeOf)

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

function toConditions(request: TakeRequest, parameters: SQLInputValue[], tools?: ReadonlySet<string>): string {
  const conditions: string[] = []
  function add(condition: string, values: readonly string[]): void {
    conditions.push(`AND ${condition}`)
    parameters.push(JSON.stringify(values))
  }
  if (tools) add("tool IN (SELECT value FROM json_each(?))", [...tools])
  if (request.kinds.length < TASK_KINDS.length) add("kind IN (SELECT value FROM json_each(?))", request.kinds)
  if (request.fullSessions.length > 0)
    add("(session IS NULL OR session NOT IN (SELECT value FROM json_each(?)))", request.fullSessions)
  if (request.fullModels.length > 0)
    add("(model IS NULL OR model NOT IN (SELECT value FROM json_each(?)))", request.fullModels)
  if (request.fullWorkspaces.length > 0)
    add("workspace NOT IN (SELECT value FROM json_each(?))", request.fullWorkspaces)
  if (request.missing?.length)
    add(
      "(folder IS NULL OR plugin || char(1) || tool || char(1) || folder NOT IN (SELECT value FROM json_each(?)))",
      request.missing.map(toPlaceKey),
    )
  if (request.only) {
    add("(session IN (SELECT value FROM json_each(?))", request.only.sessions)
    conditions.push("OR id IN (SELECT value FROM json_each(?)))")
    parameters.push(JSON.stringify(request.only.tasks))
  }
  return conditions.join(" ")
}

function toOffer({ taskId, run, session, workspace, plugin, model, tool, folder }: QueuedRun): Offer {
  return { taskId, run, session, workspace, plugin, model, tool, folder }
}
