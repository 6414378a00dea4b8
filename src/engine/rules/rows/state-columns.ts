import type { WorkerId } from "../../../task/id.ts"
import { isTerminal, type RunStatus } from "../../../task/lifecycle.ts"
import type { Patch } from "../../../task/patch.ts"
import type { RunState, TaskCourse, TaskDetails, TaskSummary } from "../../../task/record.ts"

/** The columns of a task's state, as they are read. */
export interface StateRow {
  readonly status: RunStatus
  readonly worker: WorkerId | null
  readonly available_at: number | null
  readonly ended_at: number | null
  readonly state: string | null
}

type StateWithoutPatch = TaskSummary extends infer Summary
  ? Summary extends TaskSummary
    ? Omit<Summary, keyof TaskDetails | keyof TaskCourse>
    : never
  : never

/** Reads the parts of a state that have columns of their own, and the rest from one JSON value. */
export function toStateWithoutPatch(row: StateRow): StateWithoutPatch {
  const rest = row.state === null ? {} : (JSON.parse(row.state) as object)
  const columns = {
    status: row.status,
    ...(row.worker === null ? {} : { worker: row.worker }),
    ...(row.available_at === null ? {} : { availableAt: row.available_at }),
    ...(row.ended_at === null ? {} : { endedAt: row.ended_at }),
  }
  return { ...columns, ...rest } as StateWithoutPatch
}

export function toState(row: StateRow & { readonly patch: string | null }): RunState {
  const state = toStateWithoutPatch(row)
  if (!isTerminal(row.status) || row.status === "interrupted") return state as RunState
  return { ...state, patch: row.patch === null ? null : (JSON.parse(row.patch) as Patch) } as RunState
}

/** The values of a state's columns. */
export interface StateColumns {
  readonly worker: string | null
  readonly availableAt: number | null
  readonly endedAt: number | null
  readonly rest: string | null
  readonly patch: string | null
}

interface StateParts extends Partial<Omit<StateColumns, "rest" | "patch">> {
  readonly patch?: Patch | null
}

export function toStateColumns(state: RunState): StateColumns {
  const {
    status: _,
    worker = null,
    availableAt = null,
    endedAt = null,
    patch = null,
    ...rest
  }: RunState & StateParts = state
  const hasRest = Object.keys(rest).length > 0
  return {
    worker,
    availableAt,
    endedAt,
    rest: hasRest ? JSON.stringify(rest) : null,
    patch: patch && JSON.stringify(patch),
  }
}
