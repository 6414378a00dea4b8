import type { LogState } from "./log-state.ts"
import type { SessionLog } from "./session-log.ts"

export interface LogSource {
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
