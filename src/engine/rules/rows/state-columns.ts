import type { WorkerId } from "../../../task/id.ts"
import { isTerminal, type RunStatus } from "../../../task/lifecycle.ts"
import type { Patch } from "../../../task/patch.ts"
import type { RunState, TaskCourse, TaskDetails, TaskSummary } from "../../../task/record.ts"

/** The columns of a task's state, as they are read. */
interface StateRow {
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

/** Which parts of a state have columns of their own; the rest is one JSON value. */
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

const NOTHING: StateColumns = { worker: null, availableAt: null, endedAt: null, rest: null, patch: null }

export function toStateColumns(state: RunState): StateColumns {
  switch (state.status) {
    case "queued":
      return { ...NOTHING, availableAt: state.availableAt }
    case "running":
      return { ...NOTHING, worker: state.worker }
    case "waiting":
      return { ...NOTHING, rest: JSON.stringify({ wait: state.wait }) }
    case "stopping":
      return { ...NOTHING, worker: state.worker, rest: JSON.stringify({ stop: state.stop }) }
    case "completed":
      return { ...NOTHING, endedAt: state.endedAt, patch: JSON.stringify(state.patch) }
    case "failed":
      return { ...NOTHING, ...toEnd(state, { failure: state.failure }) }
    case "cancelled":
    case "timed_out":
      return { ...NOTHING, ...toEnd(state, { stop: state.stop, survivors: state.survivors }) }
    case "interrupted":
      return { ...NOTHING, endedAt: state.endedAt, rest: JSON.stringify({ by: state.by, failure: state.failure }) }
  }
}

function toEnd(state: { endedAt: number; patch: Patch | null }, rest: object) {
  const patch = state.patch === null ? null : JSON.stringify(state.patch)
  return { endedAt: state.endedAt, rest: JSON.stringify(rest), patch }
}
