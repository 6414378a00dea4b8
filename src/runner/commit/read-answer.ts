import { createHash } from "node:crypto"
import { MeanwhileError } from "../../base/error.ts"
import type { ArtifactHash, GroupId, SessionId, TaskId } from "../../task/id.ts"
import type { AnswerOf, Operation, OperationName, OperationOf } from "../../task/operation.ts"
import type { AskingStep, TaskRecord } from "../../task/record.ts"
import type { Step } from "../../task/step.ts"
import type { TaskStore } from "../../task/store.ts"

/** The answer of an operation that was performed, read afterwards. What it answers may have changed once more since. */
export function readAnswer<Name extends OperationName>(
  store: TaskStore,
  operation: OperationOf<Name>,
): Promise<AnswerOf<Name>> {
  return (READERS[operation.op] as Read)(store, operation) as Promise<AnswerOf<Name>>
}

type Read = (store: TaskStore, operation: Operation) => Promise<AnswerOf<OperationName>>
type Readers = {
  readonly [Name in OperationName]: (store: TaskStore, operation: OperationOf<Name>) => Promise<AnswerOf<Name>>
}

const READERS: Readers = {
  async "task.create"(store, { details: { id, workspace, idempotencyKey, askedBy } }) {
    const own = await store.task(id)
    if (own) return { task: own, created: true }
    const known = idempotencyKey === null ? undefined : await findOne(store, { workspace, idempotencyKey })
    return { task: known ?? (await requireAsked(store, id, askedBy)), created: false }
  },
  "claim.check": async () => null,
  "call.end": async () => null,
  "task.apply": (store, { run }) => requireRun(store, run.taskId, run.run),
  async "task.note"(store, { run }) {
    const { lastSequence, usage } = await requireTask(store, run.taskId)
    return { lastSequence, usage }
  },
  "task.begin_run": (store, { taskId, afterRun }) => requireRun(store, taskId, afterRun + 1),
  "task.prioritize": (store, { taskId }) => requireTask(store, taskId),
  "task.limit": (store, { taskId }) => requireTask(store, taskId),
  "task.strip": (store, { taskId }) => requireTask(store, taskId),
  "task.remove": async () => null,
  "step.start": (store, { run, key }) => requireStep(store, run.taskId, run.run, key),
  "step.finish": (store, { run, key }) => requireStep(store, run.taskId, run.run, key),
  // The commit has told, claimed or released all of them: it would have been refused otherwise, or looked anew.
  "notice.claim": async (_store, { keys }) => keys,
  "notice.release": async (_store, { keys }) => keys,
  "notice.consume": async (_store, { keys }) => keys,
  "group.create": (store, { details }) => requireGroup(store, details.id),
  "group.move": (store, { groupId }) => requireGroup(store, groupId),
  async "wait.answer"(store, { waitId }) {
    const wait = await store.wait(waitId)
    return requireTask(store, written(wait, "wait", waitId).taskId)
  },
  "lease.take": (store, { key }) => requireLease(store, key),
  "lease.renew": (store, { key }) => requireLease(store, key),
  "lease.release": async () => null,
  "session.create": (store, { id }) => requireSession(store, id),
  "session.update": (store, { id }) => requireSession(store, id),
  "session.label": (store, { id }) => requireSession(store, id),
  "session.delete": async () => null,
  async "document.put"(store, { workspace, collection, id }) {
    return written(await store.document(workspace, collection, id), "document", id)
  },
  "document.delete": async () => null,
  async "artifact.put"(_store, { bytes }) {
    return `sha256:${createHash("sha256").update(bytes).digest("hex")}` as ArtifactHash
  },
}

function written<Found>(found: Found | undefined, what: string, id: string): Found {
  if (found) return found
  throw new MeanwhileError("not_found", `The ${what} ${id} was written, and is gone already.`, { id })
}

const requireTask = async (store: TaskStore, id: TaskId): Promise<TaskRecord> =>
  written(await store.task(id), "task", id)

const requireRun = async (store: TaskStore, id: TaskId, run: number): Promise<TaskRecord> =>
  written(await store.run(id, run), "run", `${id}/${run}`)

const requireGroup = async (store: TaskStore, id: GroupId) => written(await store.group(id), "group", id)

const requireSession = async (store: TaskStore, id: SessionId) => written(await store.session(id), "session", id)

async function requireLease(store: TaskStore, key: string) {
  const leases = await store.leases(key)
  const found = leases.find((lease) => lease.key === key)
  return written(found, "lease", key)
}

async function requireStep(store: TaskStore, id: TaskId, run: number, key: string): Promise<Step> {
  const steps = await store.steps(id, run)
  const found = steps.find((step) => step.key === key)
  return written(found, "step", key)
}

async function requireAsked(store: TaskStore, id: TaskId, askedBy: AskingStep | null): Promise<TaskRecord> {
  const found = askedBy ? await findOne(store, { askedBy }) : undefined
  return written(found, "task", id)
}

async function findOne(store: TaskStore, filter: Parameters<TaskStore["tasks"]>[0]): Promise<TaskRecord | undefined> {
  const { items } = await store.tasks(filter, { limit: 1 })
  return items[0] && store.task(items[0].id)
}
