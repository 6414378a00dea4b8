import { isMeanwhileError, toErrorMessage } from "../../base/error.ts"
import { unlessAborted } from "../../base/unless-aborted.ts"
import type { BackgroundCapable } from "../../plugin/background-capable.ts"
import type { SessionId } from "../../task/id.ts"
import { TERMINAL_STATUSES } from "../../task/lifecycle.ts"
import type { OperationOf } from "../../task/operation.ts"
import { type TaskSummary, WORK_KINDS } from "../../task/record.ts"
import type { TaskFilter } from "../../task/store.ts"
import type { HasActive, HasClock, HasConfig, HasLog, HasSpool, HasStore, HasTools, HasWritten } from "../run/scope.ts"
import { readPages } from "../run/task-pages.ts"

interface RetentionScope extends HasStore, HasClock, HasConfig, HasActive, HasLog, HasSpool, HasTools, HasWritten {}

const AT_ONCE = 200
const DAY_MS = 24 * 60 * 60 * 1_000

/**
 * Takes away results that were used long enough ago. A result that nobody has used stays. The record of a session's task
 * stays as long as the session: `stop/delete-session.ts`.
 */
export async function applyRetention(scope: RetentionScope): Promise<void> {
  const now = scope.clock.now()
  const { completedTaskRetentionSeconds, recordRetentionDays } = scope.config
  const strippable = { isStripped: false, consumedBefore: Math.ceil(now - completedTaskRetentionSeconds * 1_000) }
  await forEach(scope, strippable, (task) => strip(scope, task))
  const removable = { session: null, consumedBefore: Math.ceil(now - recordRetentionDays * DAY_MS) }
  await forEach(scope, removable, (task) => removeTask(scope, task))
  await forgetInputs(scope)
  await Promise.all(scope.tools.elsewhere().map((plugin) => cleanUp(scope, plugin, completedTaskRetentionSeconds)))
}

const LONGEST_CLEANUP_MS = 10_000

/** Results that were used are kept by a plugin with tasks of its own as long as here. */
async function cleanUp(
  { log }: HasLog,
  plugin: BackgroundCapable & { readonly name: string },
  afterSeconds: number,
): Promise<void> {
  try {
    await unlessAborted(AbortSignal.timeout(LONGEST_CLEANUP_MS), plugin.cleanupCompleted(afterSeconds))
  } catch (error) {
    log.warn("a plugin could not clean up", { plugin: plugin.name, error: toErrorMessage(error) })
  }
}

/** Takes away at once the output and payload of results that the session has used. Returns the number of tasks. */
export async function stripConsumed(scope: HasStore & HasSpool & HasWritten, session: SessionId): Promise<number> {
  const used = { session, isConsumed: true, isStripped: false, kinds: WORK_KINDS } as const
  return forEach(scope, used, (task) => strip(scope, task))
}

/** Removes ended tasks that the filter selects, with their output; returns how many. */
export async function removeTasks(scope: HasStore & HasSpool & HasWritten, filter: TaskFilter): Promise<number> {
  return forEach(scope, filter, (task) => removeTask(scope, task))
}

/** False when the task was begun anew or removed meanwhile. */
export function removeTask(
  scope: HasStore & HasSpool & HasWritten,
  { id, run }: Pick<TaskSummary, "id" | "run">,
): Promise<boolean> {
  return takeAway(scope, { op: "task.remove", taskId: id, run })
}

function strip(scope: HasStore & HasSpool & HasWritten, { id, run }: TaskSummary): Promise<boolean> {
  return takeAway(scope, { op: "task.strip", taskId: id, run })
}

/**
 * The store goes first: it alone knows that the task has ended and was not begun anew meanwhile. A crash in between
 * leaves a folder whose task is gone or stripped, which the sweep of any process clears away. A stripped task may be resumed at
 * once: the input and the output of its next run stay.
 */
async function takeAway(
  scope: HasStore & HasSpool & HasWritten,
  operation: Required<OperationOf<"task.remove" | "task.strip">>,
): Promise<boolean> {
  const { taskId, run } = operation
  const held = scope.written.heldInputs.get(taskId)
  try {
    await scope.store.commit([operation])
  } catch (error) {
    // The task was begun anew or removed meanwhile, and is left alone.
    if (isMeanwhileError(error, "wrong_state") || isMeanwhileError(error, "not_found")) return false
    throw error
  }
  if (scope.written.heldInputs.get(taskId) === held) scope.written.heldInputs.delete(taskId)
  await scope.spool.remove(taskId, run)
  return true
}

async function forEach(
  scope: HasStore,
  filter: TaskFilter,
  act: (task: TaskSummary) => Promise<boolean>,
): Promise<number> {
  const statuses = TERMINAL_STATUSES.filter((status) => filter.statuses?.includes(status) ?? true)
  if (statuses.length === 0) return 0
  let done = 0
  for await (const page of readPages(scope, { ...filter, statuses }, AT_ONCE)) {
    const results = await Promise.all(page.map(act))
    done += results.filter(Boolean).length
  }
  return done
}

/** How many inputs are looked at in one round. The others follow in later rounds. */
const LOOKS_PER_ROUND = 100

/**
 * Forgets held inputs that nothing will ask for: those of tasks that another process removed or stripped. A task that is
 * being written is not in the store yet, so the writes are waited for before the store is asked.
 */
async function forgetInputs(scope: HasStore & HasActive & HasWritten): Promise<void> {
  const held = [...scope.written.heldInputs.keys()].slice(0, LOOKS_PER_ROUND)
  if (held.length === 0) return
  await Promise.allSettled(scope.active.entering)
  for (const id of held) {
    const input = scope.written.heldInputs.get(id)
    const task = await scope.store.task(id)
    // The task was begun anew meanwhile.
    if (scope.written.heldInputs.get(id) !== input) continue
    scope.written.heldInputs.delete(id)
    const isNeeded = scope.active.has(id) || (task && task.strippedAt === null)
    // Set anew, the input is last in the order of the map.
    if (isNeeded && input !== undefined) scope.written.heldInputs.set(id, input)
  }
}
