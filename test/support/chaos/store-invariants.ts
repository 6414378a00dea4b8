import { expectStatus, isLifecycleEventType, isLive } from "../../../src/engine/suite/oracle.ts"
import type { TaskEvent } from "../../../src/task/event.ts"
import type { RunStatus } from "../../../src/task/lifecycle.ts"
import type { TaskRecord, TaskSummary } from "../../../src/task/record.ts"
import type { TaskStore } from "../../../src/task/store.ts"

const PAGE_SIZE = 500
/** Enough for what has happened since a moment ago. */
const SHORT_PAGE_SIZE = 20
const MOST_EVENTS = 100_000

/** A task with everything the store keeps of it. */
export interface StoredHistory {
  readonly task: TaskRecord
  /** Every run of it, the first one first. */
  readonly runs: readonly TaskRecord[]
  readonly events: readonly TaskEvent[]
}

/** All tasks, or those created since a time. The newest come first. */
export async function readHistories(store: TaskStore, since?: number): Promise<readonly StoredHistory[]> {
  const summaries: TaskSummary[] = []
  const limit = since === undefined ? PAGE_SIZE : SHORT_PAGE_SIZE
  let cursor: string | undefined
  do {
    const page = await store.tasks({}, { limit, ...(cursor && { cursor }) })
    const found = page.items.filter(({ createdAt }) => createdAt >= (since ?? 0))
    summaries.push(...found)
    cursor = found.length < page.items.length ? undefined : page.cursor
  } while (cursor)
  return Promise.all(summaries.map(({ id }) => readHistory(store, id)))
}

/** The live tasks with their events, for a message about a test that does not end. */
export async function describeLive(store: TaskStore): Promise<string> {
  return (await readHistories(store))
    .filter(({ task }) => isLive(task.status))
    .map(({ task, events }) => `${task.tool} ${task.id} ${events.map(({ body }) => body.type).join(" ")}`)
    .join("\n")
}

async function readHistory(store: TaskStore, id: TaskSummary["id"]): Promise<StoredHistory> {
  const task = await store.task(id)
  if (!task) throw new Error(`${id} is listed and cannot be read`)
  const numbers = Array.from({ length: task.run }, (_, index) => index + 1)
  const runs = await Promise.all(numbers.map((run) => store.run(id, run)))
  const missing = runs.findIndex((run) => !run)
  if (missing >= 0) throw new Error(`run ${missing + 1} of ${id} cannot be read`)
  return { task, runs: runs.filter((run) => run !== undefined), events: await store.events(id, 0, MOST_EVENTS) }
}

/** Violations of what must hold for every task at any time, whatever crashed. */
export async function findBrokenHistories(
  store: TaskStore,
  histories: readonly StoredHistory[],
): Promise<readonly string[]> {
  const violations: string[] = []
  for (const history of histories) {
    violations.push(...findGaps(history), ...findIllegalMoves(history), ...(await findWrongNotices(store, history)))
  }
  return [...violations, ...findDoubleChildren(histories)]
}

/** Violations of what must hold once everything had time to end. */
export async function findUnfinished(
  store: TaskStore,
  histories: readonly StoredHistory[],
): Promise<readonly string[]> {
  const violations: string[] = []
  for (const { task } of histories) {
    if (!isLive(task.status)) continue
    const isAsked = task.status === "waiting" && task.wait.reason === "person"
    const open = isAsked ? await store.waits({ taskId: task.id, isOpen: true }) : []
    if (open.length !== 1) violations.push(`${task.tool} ${task.id} is stuck: ${task.status}`)
  }
  return violations
}

function findGaps({ task, events }: StoredHistory): readonly string[] {
  const numbers = events.map((event) => event.sequence)
  const isWhole = numbers.length === task.lastSequence && numbers.every((number, index) => number === index + 1)
  return isWhole ? [] : [`${task.id} has ${task.lastSequence} events, the log has ${numbers.join(", ")}`]
}

/** Walks the log through the machine of a run: every move has a way, none leaves a terminal state. */
function findIllegalMoves({ task, runs, events }: StoredHistory): readonly string[] {
  const violations: string[] = []
  const statuses = new Map<number, RunStatus>()
  for (const { run, sequence, body } of events) {
    if (body.type === "task.queued") statuses.set(run, "queued")
    if (!isLifecycleEventType(body.type)) continue
    const before = statuses.get(run)
    const after = isEntry(sequence, body.type) ? "waiting" : before && expectStatus(before, body.type)
    if (after) statuses.set(run, after)
    else violations.push(`event ${sequence} of ${task.id}: ${body.type} has no way from ${before ?? "nowhere"}`)
  }
  for (const { run, status } of runs) {
    if (statuses.get(run) !== status)
      violations.push(`run ${run} of ${task.id} is ${status}, its log says ${statuses.get(run)}`)
    if (run < task.run && isLive(status)) violations.push(`run ${run} of ${task.id} was left as ${status}`)
  }
  return violations
}

/** A task that needs an answer before it may begin waits from the start. */
function isEntry(sequence: number, type: string): boolean {
  return sequence === 2 && type === "task.waited"
}

async function findWrongNotices(store: TaskStore, { task, runs }: StoredHistory): Promise<readonly string[]> {
  const notices = await store.notices({ taskId: task.id }, MOST_EVENTS)
  const ended = notices.filter((notice) => notice.kind === "ended")
  return runs.flatMap(({ run, status }) => {
    const count = ended.filter((notice) => notice.run === run).length
    // A turn's end writes no notice: the turn is the session's own.
    const expected = !isLive(status) && task.kind !== "turn" ? 1 : 0
    return count === expected ? [] : [`run ${run} of ${task.id} is ${status} and has ${count} notices`]
  })
}

function findDoubleChildren(histories: readonly StoredHistory[]): readonly string[] {
  const askers = histories.flatMap(({ task: { askedBy } }) =>
    askedBy ? [`${askedBy.taskId}/${askedBy.run}/${askedBy.key}`] : [],
  )
  return askers.filter((asker, index) => askers.indexOf(asker) !== index).map((asker) => `${asker} made two tasks`)
}
