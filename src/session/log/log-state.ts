import type { Message } from "../../plugin/message.ts"
import { applyEntry, beginsAnew } from "./log-entry.ts"
import type { LogChange } from "./open-turn.ts"
import type { SessionData } from "./session-data.ts"
import type { SessionLog } from "./session-log.ts"

/** The part of a log that is in memory. */
export interface LogState {
  readonly data: SessionData
  readonly history: readonly Message[]
  readonly position: number
}

/** The state after a change; its data say from where the history is to be read. */
export function applyChange(state: LogState, { entries, data }: LogChange): LogState {
  let { history, position } = state
  let { historyAfter } = state.data
  for (const entry of entries) {
    if (beginsAnew(entry)) historyAfter = position
    history = applyEntry(history, entry)
    position += 1
  }
  return { data: { ...state.data, ...data, historyAfter }, history, position }
}

interface LogSource {
  state(): LogState
  nextPosition(): number
  createdAt(): number
  updatedAt(): number
}

export type LogView = Pick<SessionLog, keyof LogState | Exclude<keyof LogSource, "state">>

/** A live view of a log's state. */
export function createLogView(source: LogSource): LogView {
  return new LiveLogView(source)
}

/** A class: the getters of an object literal would keep every history in memory until the next full garbage collection. */
class LiveLogView implements LogView {
  readonly #source: LogSource

  constructor(source: LogSource) {
    this.#source = source
  }

  get data() {
    return this.#source.state().data
  }

  get history() {
    return this.#source.state().history
  }

  get position() {
    return this.#source.state().position
  }

  get nextPosition() {
    return this.#source.nextPosition()
  }

  get createdAt() {
    return this.#source.createdAt()
  }

  get updatedAt() {
    return this.#source.updatedAt()
  }
}
