import type { WaitAnswer } from "../../plugin/wait-request.ts"
import type { Wake } from "../../task/bus.ts"
import type { GroupRecord } from "../../task/group.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { TaskId } from "../../task/id.ts"
import { findOrigin } from "../run/runs-above.ts"
import type { HasActive, HasStore } from "../run/scope.ts"

/** The subject of a wait, looked at again whenever something may have happened to it. */
export interface WaitSubject {
  /** True if the wake-up may be about the subject. */
  hear(wake: Wake): boolean
  /** Why the wait is over; null while it is not. */
  look(): Promise<WaitAnswer["reason"] | null>
  /** Reads the tasks and the group as they stand now. */
  read(): Promise<WaitStanding>
  /** Looks for what the bus does not tell of, until the returned function is called. */
  begin?(wake: () => void): () => void
}

export interface WaitStanding {
  readonly tasks: readonly TaskRecord[]
  /** Tasks that need not be told of any more, because of a shown task: the members of a group whose gate was refused. */
  readonly settled?: readonly TaskRecord[]
  readonly group: GroupRecord | null
  readonly match?: WaitAnswer["match"]
}

/** True if only an answer, of a person or of the run's starter, lets the run go on. */
export function needsAnswer(
  task: Pick<TaskRecord, "status"> & { readonly wait?: { readonly reason: string } },
): boolean {
  return task.status === "waiting" && isForPerson(task.wait?.reason)
}

/** True if a person can answer a wait for this reason. Other waits are for tasks, times and clients. */
export function isForPerson(reason: string | undefined): boolean {
  return reason === "person" || reason === "approval"
}

/** True if somebody may have been asked: questions come with a notice. */
export function mayBeQuestion(wake: Wake): boolean {
  return wake.about === "session" && wake.hasNotice !== false
}

/**
 * True if one of these tasks, or a task below it, has asked a person: it rests as `running` while its question, a
 * task of its own, waits in the inbox.
 */
export async function isAskingBelow(scope: HasStore & HasActive, live: readonly LiveTask[]): Promise<boolean> {
  const [first] = live
  if (!first) return false
  const ids = new Set(live.map(({ id }) => id))
  for (const { taskId, reason } of await scope.store.waits({ workspace: first.workspace, isOpen: true })) {
    if (isForPerson(reason) && (await isBelow(scope, taskId, ids))) return true
  }
  return false
}

type LiveTask = Pick<TaskRecord, "id" | "workspace">

async function isBelow(scope: HasStore & HasActive, id: TaskId, above: ReadonlySet<TaskId>): Promise<boolean> {
  let next: TaskId | null | undefined = id
  while (next && !above.has(next)) next = (await findOrigin(scope, next))?.parentTask
  return next !== null && next !== undefined
}
