import { applyEntry, beginsAnew } from "./log-entry.ts"
import type { LogChange, LogState } from "./session-log.ts"

/** Returns the state after a change. `historyAfter` in its data says from which entry on the history is read. */
export function applyChange(state: LogState, { entries, data }: LogChange, now: number): LogState {
  let { history, position } = state
  let { historyAfter } = state.data
  for (const entry of entries) {
    if (beginsAnew(entry)) historyAfter = position
    history = applyEntry(history, entry)
    position += 1
  }
  const times = { ...state.times, updatedAt: now }
  return { data: { ...state.data, ...data, historyAfter }, history, position, times }
}

/** A live view of a log's state. */
export function createLogView(state: () => LogState): LogState {
  return new LiveLogView(state)
}

/** A class: the getters of an object literal would keep every history in memory until the next full garbage collection. */
class LiveLogView implements LogState {
  readonly #state: () => LogState

  constructor(state: () => LogState) {
    this.#state = state
  }

  get data() {
    return this.#state().data
  }

  get history() {
    return this.#state().history
  }

  get position() {
    return this.#state().position
  }

  get times() {
    return this.#state().times
  }
}
