import type { SessionId } from "../../task/id.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { NoticeKey } from "../../task/notice.ts"
import type { Operation } from "../../task/operation.ts"
import type { AskingStep, TaskRecord } from "../../task/record.ts"
import { isWithheld } from "../group/gate.ts"
import type { HasStore } from "../run/scope.ts"

/** A user of results within a run. */
export interface ResultReader {
  /** The step of a turn that shows the results: used once the turn has kept the step's answer. Null: used at once. */
  readonly claimant: AskingStep | null
  /** The session of the run. Results that are addressed to another session are left to that session. */
  readonly session: SessionId | null
}

/**
 * Marks the last runs of ended tasks as used. Returns how many were not used before. For a step of a turn it only claims
 * them, and the claim ends with the turn: if the turn never kept the step's answer, the results are told again.
 */
export async function acknowledgeTasks(
  scope: HasStore,
  tasks: readonly TaskRecord[],
  reader?: ResultReader,
): Promise<number> {
  const used = tasks.filter((task) => isUsableBy(task, reader))
  return settle(scope, used, reader)
}

/** Marks results that are shown as used and retrieved. A result that is withheld from a run is not used by it. */
export async function handOverResults(
  scope: HasStore,
  tasks: readonly TaskRecord[],
  reader?: ResultReader,
): Promise<number> {
  const usable = tasks.filter((task) => isUsableBy(task, reader))
  const isShown = await Promise.all(usable.map(async (task) => !reader || !(await isWithheld(scope, task))))
  const used = usable.filter((_, index) => isShown[index])
  const retrieved = used
    .filter(({ retrievedAt }) => retrievedAt === null)
    .map(
      ({ id, run }): Operation => ({ op: "task.note", run: { taskId: id, run }, facts: [{ type: "task.retrieved" }] }),
    )
  return settle(scope, used, reader, retrieved)
}

function isUsableBy({ status, session }: TaskRecord, reader: ResultReader | undefined): boolean {
  return isTerminal(status) && (!reader || session === reader.session)
}

async function settle(
  { store }: HasStore,
  tasks: readonly TaskRecord[],
  reader: ResultReader | undefined,
  beside: readonly Operation[] = [],
): Promise<number> {
  if (tasks.length === 0) return 0
  const keys = tasks.map(({ id, run }): NoticeKey => ({ taskId: id, run, kind: "ended" }))
  const claimant = reader?.claimant
  const use = claimant
    ? ({ op: "notice.claim", keys, by: claimant } as const)
    : ({ op: "notice.consume", keys, by: null } as const)
  const [settled] = await store.commit([use, ...beside])
  return settled.length
}
