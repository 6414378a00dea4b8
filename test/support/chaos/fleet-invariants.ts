import pg from "pg"
import { createPostgresEngine } from "../../../src/engine/postgres/engine.ts"
import { textOf } from "../../../src/plugin/message.ts"
import type { SessionId } from "../../../src/task/id.ts"
import type { TaskStore } from "../../../src/task/store.ts"
import { countClaims } from "./effects.ts"
import { type Expectations, findViolations } from "./outcome-invariants.ts"
import { readHistories } from "./store-invariants.ts"
import { readStoredSession } from "./turn-record.ts"

export interface FleetExpectations extends Pick<Expectations, "answered" | "effects" | "mayBeCancelled"> {
  readonly sessions: readonly SessionId[]
}

export interface FleetFindings {
  /** Empty: nothing is wrong. */
  readonly violations: readonly string[]
  readonly tasks: number
  /** Runs that a second worker took over. */
  readonly takenOver: number
  readonly interrupted: number
}

/** Looks at a store whose workers have all left. */
export async function lookAtFleet(url: string, expected: FleetExpectations): Promise<FleetFindings> {
  await using engine = await createPostgresEngine({ url })
  const { store } = engine
  const told = await Promise.all(expected.sessions.map((session) => findWrongTelling(store, session)))
  const violations = [
    ...(await findViolations(store, { ...expected, mustBeStopped: [] })),
    ...told.flat(),
    ...(await findLeftovers(store)),
    ...(await findTickets(url)),
  ]
  const histories = (await readHistories(store)).filter(({ task }) => task.kind !== "turn")
  return {
    violations,
    tasks: histories.length,
    takenOver: histories.filter(({ task, events }) => countClaims(events, task.run) > 1).length,
    interrupted: histories.filter(({ task }) => task.status === "interrupted").length,
  }
}

const HEAD = /^(?:\d+\. )?Task (?<id>\S+) \(.*\): [a-z ]+\.$/gm

/** Every end is told in its conversation, and none twice. */
async function findWrongTelling(store: TaskStore, id: SessionId): Promise<readonly string[]> {
  const stored = await readStoredSession(store, id)
  if (!stored) return [`${id} is not in the store`]
  const heard = stored.messages.filter(({ role }) => role === "user").map(textOf)
  const told = heard.flatMap((text) => [...text.matchAll(HEAD)].map((match) => match.groups?.["id"]))
  const counts = Map.groupBy(told, (task) => task)
  return stored.tasks.flatMap((task) => {
    const count = counts.get(task.id)?.length ?? 0
    return count === 1 ? [] : [`${task.tool} ${task.id} is ${task.status} and was told ${count} times`]
  })
}

async function findLeftovers(store: TaskStore): Promise<readonly string[]> {
  const leases = await store.leases("")
  const notices = await store.notices({ states: ["pending", "claimed"] }, 100)
  const waits = await store.waits({ isOpen: true })
  return [
    ...leases.map(({ key }) => `the lease ${key} was left behind`),
    ...notices.map(({ taskId, state }) => `the notice of ${taskId} is still ${state}`),
    ...waits.map(({ id, taskId }) => `the wait ${id} of ${taskId} is still open`),
  ]
}

async function findTickets(url: string): Promise<readonly string[]> {
  const tickets = await query<{ id: string; state: string }>(url, "SELECT id, state FROM meanwhile_queue.job LIMIT 100")
  return tickets.map(({ id, state }) => `the ticket ${id} is still ${state}`)
}

export async function query<Row extends pg.QueryResultRow>(url: string, text: string): Promise<readonly Row[]> {
  const client = new pg.Client(url)
  // The connection may be lost with the server.
  client.on("error", () => {})
  await client.connect()
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}
