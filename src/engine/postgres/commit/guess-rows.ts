import type { SessionId, TaskId } from "../../../task/id.ts"
import { TERMINAL_STATUSES } from "../../../task/lifecycle.ts"
import type { NoticeKey } from "../../../task/notice.ts"
import type { Operation, OperationName, OperationOf, RunReference } from "../../../task/operation.ts"
import { createWants, type DocumentKey, want, type Wants } from "./working-set/wants.ts"

const ENDS: ReadonlySet<string> = new Set(TERMINAL_STATUSES.map((status) => `task.${status}`))

/**
 * The rows that the rules will look at, as far as the operations' own data tells. A row that the guess misses is loaded
 * when the rules look for it; a row too many costs a lookup.
 */
export function guessRows(operations: readonly Operation[]): Wants {
  const wants = createWants()
  const made = new Set<TaskId>()
  for (const operation of operations) {
    const guess = GUESSES[operation.op] as (wants: Wants, operation: Operation) => void
    guess(wants, operation)
    if (operation.op === "task.create") made.add(operation.details.id)
  }
  for (const id of made) {
    wants.rows.task.delete(id)
    wants.rows.groupOfTask.delete(id)
    wants.rows.above.delete(id)
  }
  return wants
}

/** Rows that may exist under the ids of new ones. Ids are random, so these are loaded only after a collision. */
export function guessCollisions(operations: readonly Operation[]): Wants {
  const wants = createWants()
  for (const operation of operations) {
    if (operation.op === "group.create") want(wants, "group", operation.details.id)
    if (operation.op === "task.apply" && operation.event.type === "task.waited")
      want(wants, "wait", operation.event.wait.id)
    if (operation.op === "task.begin_run" && operation.wait) want(wants, "wait", operation.wait.id)
    if (operation.op !== "task.create") continue
    want(wants, "task", operation.details.id)
    if (operation.entry.as === "waiting") want(wants, "wait", operation.entry.wait.id)
  }
  return wants
}

type Guesses = { readonly [Name in OperationName]: (wants: Wants, operation: OperationOf<Name>) => void }

const GUESSES: Guesses = {
  "task.create": guessCreate,
  "task.apply"(wants, { run: { taskId }, event }) {
    want(wants, "task", taskId)
    if (ENDS.has(event.type)) want(wants, "groupOfTask", taskId)
  },
  "claim.check": (wants, { run }) => want(wants, "task", run.taskId),
  "call.end"(wants, { children }) {
    for (const id of children) {
      want(wants, "task", id)
      want(wants, "below", id)
    }
  },
  "task.note": (wants, { run }) => want(wants, "task", run.taskId),
  "task.begin_run": guessMember,
  "task.remove": guessMember,
  "task.prioritize": (wants, { taskId }) => want(wants, "task", taskId),
  "task.limit": (wants, { taskId }) => want(wants, "task", taskId),
  "task.strip": (wants, { taskId }) => want(wants, "task", taskId),
  "step.start": (wants, { run, key }) => guessStep(wants, run, key),
  "step.finish"(wants, { run, key, settlesClaims }) {
    guessStep(wants, run, key)
    want(wants, "lastCompletion", { taskId: run.taskId, run: run.run })
    if (settlesClaims) want(wants, "claimsOfStep", toStep(run, key))
  },
  "notice.claim": guessNotices,
  "notice.release": guessNotices,
  "notice.consume": guessNotices,
  "group.create": (wants, { details }) => guessWorkspace(wants, details.session),
  "group.move"(wants, { groupId }) {
    want(wants, "group", groupId)
    want(wants, "arrivals", groupId)
  },
  "wait.answer": (wants, { waitId }) => want(wants, "wait", waitId),
  "lease.take"(wants, { key }) {
    wants.numbers.lease_fences += 1
    want(wants, "lease", key)
  },
  "lease.renew": (wants, { key }) => want(wants, "lease", key),
  "lease.release": (wants, { key }) => want(wants, "lease", key),
  "session.create"(wants, { id, messagesOf }) {
    wants.numbers.session_numbers += 1
    want(wants, "session", id)
    if (messagesOf) want(wants, "session", messagesOf.session)
  },
  "session.update": (wants, { id }) => want(wants, "session", id),
  "session.label": (wants, { id }) => want(wants, "session", id),
  "session.delete"(wants, { id }) {
    want(wants, "session", id)
    want(wants, "tasksOfSession", id)
    want(wants, "groupsOfSession", id)
  },
  "document.put": guessDocument,
  "document.delete": guessDocument,
  "artifact.put"(wants, { taskId }) {
    if (taskId !== null) want(wants, "task", taskId)
  },
}

function guessMember(wants: Wants, { taskId }: { readonly taskId: TaskId }): void {
  want(wants, "task", taskId)
  want(wants, "groupOfTask", taskId)
}

function guessNotices(wants: Wants, { keys }: { readonly keys: readonly NoticeKey[] }): void {
  for (const { taskId } of keys) {
    want(wants, "task", taskId)
    want(wants, "noticesOfTask", taskId)
  }
}

function guessDocument(wants: Wants, { workspace, collection, id }: DocumentKey): void {
  want(wants, "document", { workspace, collection, id })
}

function guessCreate(wants: Wants, operation: OperationOf<"task.create">): void {
  const { details, askingStepResult, children = [] } = operation
  const { workspace, session, parentTask, group, idempotencyKey: key, askedBy } = details
  wants.numbers.task_numbers += 1
  guessWorkspace(wants, session)
  if (parentTask !== null) want(wants, "above", parentTask)
  for (const child of children) want(wants, "task", child)
  if (group !== null) want(wants, "group", group)
  if (key !== null) want(wants, "idempotencyKey", { workspace, key })
  if (!askedBy) return
  const { taskId, run } = askedBy
  want(wants, "askingStep", { taskId, run, key: askedBy.key })
  want(wants, "task", taskId)
  if (askingStepResult === undefined) return
  guessStep(wants, { taskId, run }, askedBy.key)
  want(wants, "lastCompletion", { taskId, run })
}

function guessWorkspace(wants: Wants, session: SessionId | null): void {
  if (session !== null) want(wants, "workspaceOfSession", session)
}

function guessStep(wants: Wants, run: RunReference, key: string): void {
  want(wants, "task", run.taskId)
  want(wants, "step", toStep(run, key))
}

function toStep({ taskId, run }: RunReference, key: string): { taskId: TaskId; run: number; key: string } {
  return { taskId, run, key }
}
