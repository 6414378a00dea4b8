import { isDeepStrictEqual } from "node:util"
import { type JsonValue, toJson } from "../../base/json.ts"
import { type TaskEventBody, toLogged } from "../../task/event.ts"
import type { SessionId, TaskId } from "../../task/id.ts"
import type { AnswerOf, Operation, OperationName, OperationOf } from "../../task/operation.ts"
import type { TaskStore } from "../../task/store.ts"
import { readAnswer } from "./read-answer.ts"

export type Answers = readonly AnswerOf<OperationName>[]

/**
 * Finds out from what a commit would have written whether it was performed, and what its answers were. Null: it was not,
 * or it may be performed twice without harm.
 *
 * The operations of a commit happen together, so the first one that can tell decides. The one that tells most surely is
 * asked first.
 */
export async function recallCommit(store: TaskStore, operations: readonly Operation[]): Promise<Answers | null> {
  if (!(await wasCommitted(store, operations))) return null
  const answers: AnswerOf<OperationName>[] = []
  for (const operation of operations) answers.push(await readAnswer(store, operation))
  return answers
}

async function wasCommitted(store: TaskStore, operations: readonly Operation[]): Promise<boolean> {
  for (const name of SUREST_FIRST) {
    // Backwards: the last event of a run tells more than what led to it.
    for (const operation of operations.toReversed()) {
      if (operation.op !== name) continue
      const isWritten = await (TRACES[name] as Find)(store, operation)
      if (isWritten !== undefined) return isWritten
    }
  }
  return false
}

type Find = (store: TaskStore, operation: Operation) => Promise<boolean | undefined>

/** Undefined: the store holds nothing that tells. Operations without a trace may happen twice. */
type Traces = {
  readonly [Name in OperationName]?: (store: TaskStore, operation: OperationOf<Name>) => ReturnType<Find>
}

const MOST_EVENTS = 50
const MOST_MESSAGES = 200
const MOST_NOTICES = 1_000

const TRACES = {
  async "task.create"(store, { details }) {
    if (await store.task(details.id)) return true
    // Another task may have been the answer.
    return details.idempotencyKey === null && !details.askedBy ? false : undefined
  },
  "group.create": async (store, { details }) => (await store.group(details.id)) !== undefined,
  async "task.begin_run"(store, { taskId, afterRun, title, input }) {
    const task = await store.task(taskId)
    if (!task || task.run === afterRun) return false
    const isSame = title === undefined || task.title === title
    return task.run === afterRun + 1 && isSame && (input === undefined || isEqual(task.input, input))
  },
  async "wait.answer"(store, { waitId, answer, answeredBy }) {
    const wait = await store.wait(waitId)
    return wait?.state === "answered" && wait.answeredBy === answeredBy && isEqual(wait.answer, answer)
  },
  async "session.update"(store, { id, expectedVersion, data, messages }) {
    const session = await store.session(id)
    if (!session || session.version <= expectedVersion) return false
    if (messages.length > 0) return hasMessages(store, id, session.messageCount, messages)
    return session.version === expectedVersion + 1 && data ? isEqual(session.data, data) : undefined
  },
  async "task.apply"(store, { run: { taskId, run, fence }, event, lastSequence = 0 }) {
    const task = await store.task(taskId)
    if (!task) return false
    const isCurrent = task.run === run
    if (event.type === "task.started") {
      return isCurrent && (task.status === "running" || task.status === "stopping") && task.worker === event.worker
    }
    // The event would have ended the claim.
    const isStillClaimed = isCurrent && task.status === "running" && task.fence === fence
    if (isStillClaimed && event.type !== "task.stop_requested") return false
    const bodies = await readLastEvents(store, taskId, run, lastSequence)
    return bodies.some((body) => isEqual(body, toLogged(event)))
  },
  async "document.put"(store, { workspace, collection, id, value, expectedVersion }) {
    const { version, value: stored } = (await store.document(workspace, collection, id)) ?? { version: 0, value: null }
    if (version <= expectedVersion) return false
    return version === expectedVersion + 1 ? isEqual(stored, value) : undefined
  },
  async "session.create"(store, { id, data }) {
    const session = await store.session(id)
    if (!session) return false
    return session.version === 1 ? isEqual(session.data, data) : undefined
  },
  "session.delete": async (store, { id }) => (await store.session(id)) === undefined,
  "task.remove": async (store, { taskId }) => (await store.task(taskId)) === undefined,
  "group.move": async (store, { groupId, to }) => {
    const group = await store.group(groupId)
    return group?.state === to || (to === "sealed" && group?.state === "joined")
  },
  async "notice.consume"(store, { keys }) {
    const isUsed = async ({ taskId, run, kind }: (typeof keys)[number]): Promise<boolean> => {
      const notices = await store.notices({ taskId, states: ["consumed"] }, MOST_NOTICES)
      return notices.some((notice) => notice.run === run && notice.kind === kind)
    }
    return (await Promise.all(keys.map(isUsed))).every(Boolean)
  },
  async "step.start"(store, { run: { taskId, run }, key }) {
    return (await store.steps(taskId, run)).some((step) => step.key === key)
  },
  async "task.note"(store, { run: { taskId, run }, facts }) {
    if (facts.length === 0) return undefined
    return includes(await readLastEvents(store, taskId, run), facts)
  },
  async "lease.release"(store, { key, holder, fence }) {
    const leases = await store.leases(key)
    return !leases.some((lease) => lease.key === key && lease.holder === holder && lease.fence === fence)
  },
} satisfies Traces

const SUREST_FIRST = Object.keys(TRACES) as (keyof typeof TRACES)[]

/** Contract: other writers may have added more since. */
async function hasMessages(
  store: TaskStore,
  id: SessionId,
  count: number,
  wanted: readonly JsonValue[],
): Promise<boolean> {
  const stored = await store.messages(id, Math.max(0, count - wanted.length - MOST_MESSAGES), count)
  return includes(
    stored.map(({ body }) => body),
    wanted,
  )
}

async function readLastEvents(
  store: TaskStore,
  taskId: TaskId,
  run: number,
  afterSequence = 0,
): Promise<readonly TaskEventBody[]> {
  const last = (await store.task(taskId))?.lastSequence ?? 0
  const events = await store.events(taskId, Math.max(afterSequence, last - MOST_EVENTS), MOST_EVENTS)
  return events.filter((event) => event.run === run).map(({ body }) => body)
}

function includes(stored: readonly unknown[], wanted: readonly unknown[]): boolean {
  return stored.some((_, index) => isEqual(stored.slice(index, index + wanted.length), wanted))
}

/** As the store keeps it: without what is undefined, and whatever the order of the keys. */
function isEqual(stored: unknown, wanted: unknown): boolean {
  return isDeepStrictEqual(toJson(stored), toJson(wanted))
}
