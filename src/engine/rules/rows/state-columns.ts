import type { Patch } from "../../../task/patch.ts"
import type { RunState } from "../../../task/record.ts"

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
