import { isMeanwhileError, MeanwhileError, toErrorMessage } from "../../base/error.ts"
import type { SessionId, TaskId } from "../../task/id.ts"
import type { AnswerOf, Operation, OperationOf } from "../../task/operation.ts"
import { isAskedOfPerson, type TaskDetails } from "../../task/record.ts"
import type { CommitOptions } from "../../task/store.ts"
import { isRefusedForNow } from "../../task/store-refusal.ts"
import type { ActiveRun, BegunBelow } from "./active-run.ts"
import { commitUnder, findPlace, hasRecord, type RecordedPlace } from "./claimed-store.ts"
import { isLeftBehind, requireNotLost } from "./ownership.ts"
import { runAbove, runsAbove } from "./runs-above.ts"
import type { FenceScope, HasActive, HasClock, HasLog } from "./scope.ts"
import { createStoreRetry } from "./store-retry.ts"

/** What the caller commits with the task. The answer to the creation is the last one. */
type ToCreation = (details: TaskDetails) => readonly [...Operation[], OperationOf<"task.create">]

/**
 * Writes a task below the nearest run that has a record, if this process still holds that run. The calls in between,
 * which run in the foreground, note the task: a promotion puts it below the call, and the end of such a call settles it.
 * A crash in between leaves the task below that run, whose end settles it. `above` is the run that writes the task, or
 * null if none in this process does. The operations are made when they are committed.
 */
export async function writeBelow(
  scope: FenceScope,
  above: ActiveRun | null,
  details: TaskDetails,
  toCreation: ToCreation,
  options?: CommitOptions,
): Promise<AnswerOf<"task.create">> {
  let place = findPlace(scope, above)
  for (; place.promotion; place = findPlace(scope, above)) await place.promotion
  const { calls, recorded } = place
  if (above) requireNotLost(scope, above)
  const stopped = calls.find(({ control }) => control.stop !== null)
  if (stopped) {
    const message = `The call ${stopped.taskId} was stopped: it can begin nothing more.`
    throw new MeanwhileError("closed", message, { taskId: stopped.taskId })
  }
  // Without a record above, the call's own id stands: its record, if it gets one, will have that id.
  const parentTask = toParent(place)
  const operations = toCreation({ ...details, parentTask: parentTask ?? details.parentTask })
  const writing = commitUnder(scope, recorded, operations, options).then(
    (answers) => answers.at(-1) as AnswerOf<"task.create">,
  )
  const begun = calls.map(({ steps }) => (steps.begun ??= createBegun()))
  for (const each of begun) each.writing.add(writing)
  try {
    const written = await writing
    if (written.created) {
      for (const { children } of begun) children.add(details.id)
      if (mayOutlive(details)) noteTask(scope, calls, recorded, details.session)
    }
    return written
  } finally {
    for (const each of begun) each.writing.delete(writing)
  }
}

/** Notes a task or turn that an earlier claim of the call's turn had begun before a crash. */
export function noteFound({ active }: HasActive, call: TaskId, child: TaskId): void {
  const run = active.get(call)
  if (!run || hasRecord(run)) return
  const begun = (run.steps.begun ??= createBegun())
  begun.children.add(child)
  begun.hasTasks = true
}

/** The tasks that the record of a call in the foreground takes over. Resolves once all of them are written. */
export async function takeBegun({ steps: { begun } }: ActiveRun): Promise<readonly TaskId[]> {
  while (begun && begun.writing.size > 0) await Promise.allSettled(begun.writing)
  return [...(begun?.children ?? [])]
}

/** Stops at once what a call in the foreground has begun, when the call itself is stopped. */
export async function stopBegun(scope: FenceScope & HasLog, call: ActiveRun): Promise<void> {
  const { begun } = call.steps
  if (!begun || hasRecord(call)) return
  await settle(scope, call, begun, toStopReason(call)).catch((error: unknown) => {
    scope.log.warn("the tasks of a call could not be stopped with it yet", {
      task: call.taskId,
      error: toErrorMessage(error),
    })
  })
}

/** True while the end of a call in the foreground has to be told to what it began. */
export function isEndOwed(scope: HasActive, call: ActiveRun, isSuccess: boolean): boolean {
  const { begun } = call.steps
  if (!begun || call.standing.in !== "foreground" || isLeftBehind(scope, call)) return false
  return begun.hasTasks || !isSuccess || call.control.stop !== null
}

/**
 * Settles what a call in the foreground began, before its caller is told that the call ended: stops it, or hands it on.
 * Tries again while the store takes no writes, until the runner closes. Otherwise the end of the run above the call
 * settles it.
 */
export async function endBegun(
  scope: FenceScope & HasClock & HasLog,
  call: ActiveRun,
  isSuccess: boolean,
): Promise<void> {
  const { begun } = call.steps
  for (const retry = createStoreRetry(scope); begun && !retry.isOver(); await retry.pause()) {
    try {
      const isCompleted = isSuccess && call.control.stop === null
      await settle(scope, call, begun, isCompleted ? null : toStopReason(call))
      break
    } catch (error) {
      const isTriedAgain = isRefusedForNow(error)
      scope.log.error(
        `the end of a call could not be told to the tasks below it${isTriedAgain ? "; trying again" : ""}`,
        {
          task: call.taskId,
          error: toErrorMessage(error),
        },
      )
      if (!isTriedAgain) break
    }
  }
  if (call.steps.begun === begun) call.steps.begun = null
}

/** Of a call that is left behind nothing is settled: whoever makes it again finds what it began, and goes on with it. */
async function settle(scope: FenceScope, call: ActiveRun, begun: BegunBelow, stoppedFor: string | null): Promise<void> {
  await Promise.allSettled(begun.writing)
  if (isLeftBehind(scope, call)) return
  const place = findPlace(scope, runAbove(scope, call) ?? null)
  const parentTask = toParent(place) ?? call.origin.parentTask
  const { session } = call.origin
  const end = { op: "call.end", children: [...begun.children], parentTask, session, stoppedFor } as const
  try {
    await commitUnder(scope, place.recorded, [end])
  } catch (error) {
    if (!isMeanwhileError(error, "stale_claim")) throw error
  }
}

function toStopReason({ call, control: { stop } }: ActiveRun): string {
  return `the call of ${call.tool.name} that asked for it ${stop ? `was stopped by ${stop.by}: ${stop.reason}` : "failed"}`
}

const createBegun = (): BegunBelow => ({ children: new Set(), writing: new Set(), hasTasks: false })

/** Turns and questions end with the call that began them. */
function mayOutlive(details: TaskDetails): boolean {
  return details.kind !== "turn" && !isAskedOfPerson(details)
}

/**
 * Notes a task in the calls above it to which its results would be told otherwise: those above the recorded run that began
 * it, and one that began it itself, for another conversation.
 */
function noteTask(
  scope: HasActive,
  calls: readonly ActiveRun[],
  recorded: ActiveRun | undefined,
  session: SessionId | null,
): void {
  const above = recorded ? runsAbove(scope, recorded) : []
  for (const { steps } of [...calls.filter(({ origin }) => origin.session !== session), ...above])
    if (steps.begun) steps.begun.hasTasks = true
}

/** Null: nothing above has a record. A call may be below a task that does not run in this process. */
function toParent({ calls, recorded }: RecordedPlace): TaskId | null {
  return recorded?.taskId ?? calls.at(-1)?.origin.parentTask ?? null
}
