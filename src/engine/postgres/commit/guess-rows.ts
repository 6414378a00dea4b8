import type { SessionId, TaskId } from "../../../task/id.ts"
import { TERMINAL_STATUSES } from "../../../task/lifecycle.ts"
import type { Operation, OperationOf, RunReference } from "../../../task/operation.ts"
import { createWants, want, type Wants } from "./working-set/wants.ts"

const ENDS: ReadonlySet<string> = new Set(TERMINAL_STATUSES.map((status) => `task.${status}`))

/**
 * The rows that operations will look at, as far as their own data tells. What it misses is found when the rules look
 * for it; what it has too much of costs a lookup.
 */
export function guessRows(operations: readonly Operation[]): Wants {
  const wants = createWants()
  const made = new Set<TaskId>()
  for (const operation of operations) {
    guess(wants, operation)
    if (operation.op === "task.create") made.add(operation.details.id)
  }
  for (const id of made) {
    wants.rows.task.delete(id)
    wants.rows.groupOfTask.delete(id)
  }
  return wants
}

/** Rows that may have the ids of new ones. Ids are random, so these are loaded only after a collision. */
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

function guess(wants: Wants, operation: Operation): void {
  switch (operation.op) {
    case "task.create":
      return guessCreate(wants, operation)
    case "task.apply":
      want(wants, "task", operation.run.taskId)
      if (ENDS.has(operation.event.type)) want(wants, "groupOfTask", operation.run.taskId)
      return
    case "task.note":
      return want(wants, "task", operation.run.taskId)
    case "task.begin_run":
    case "task.remove":
      want(wants, "task", operation.taskId)
      return want(wants, "groupOfTask", operation.taskId)
    case "task.prioritize":
    case "task.strip":
      return want(wants, "task", operation.taskId)
    case "step.start":
      return guessStep(wants, operation.run, operation.key)
    case "step.finish":
      guessStep(wants, operation.run, operation.key)
      want(wants, "lastCompletion", { taskId: operation.run.taskId, run: operation.run.run })
      if (operation.settlesClaims) want(wants, "claimsOfStep", toStep(operation.run, operation.key))
      return
    case "notice.claim":
    case "notice.release":
    case "notice.consume":
      for (const { taskId } of operation.keys) {
        want(wants, "task", taskId)
        want(wants, "noticesOfTask", taskId)
      }
      return
    default:
      return guessOther(wants, operation)
  }
}

type Other = Exclude<Operation, { op: `task.${string}` | `step.${string}` | `notice.${string}` }>

function guessOther(wants: Wants, operation: Other): void {
  switch (operation.op) {
    case "group.create":
      return guessWorkspace(wants, operation.details.session)
    case "group.move":
      want(wants, "group", operation.groupId)
      return want(wants, "arrivals", operation.groupId)
    case "wait.answer":
      return want(wants, "wait", operation.waitId)
    case "lease.take":
      wants.numbers.lease_fences += 1
      return want(wants, "lease", operation.key)
    case "lease.renew":
    case "lease.release":
      return want(wants, "lease", operation.key)
    case "session.create":
      wants.numbers.session_numbers += 1
      return want(wants, "session", operation.id)
    case "session.update":
      return want(wants, "session", operation.id)
    case "session.delete":
      want(wants, "session", operation.id)
      want(wants, "tasksOfSession", operation.id)
      return want(wants, "groupsOfSession", operation.id)
    case "document.put":
    case "document.delete": {
      const { workspace, collection, id } = operation
      return want(wants, "document", { workspace, collection, id })
    }
    case "artifact.put":
      if (operation.taskId !== null) want(wants, "task", operation.taskId)
  }
}

function guessCreate(wants: Wants, operation: OperationOf<"task.create">): void {
  const { details, askingStepResult } = operation
  const { workspace, session, group, idempotencyKey: key, askedBy } = details
  wants.numbers.task_numbers += 1
  guessWorkspace(wants, session)
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
