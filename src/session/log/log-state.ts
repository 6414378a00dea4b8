import type { Message } from "../../plugin/message.ts"
import { applyEntry, beginsAnew } from "./log-entry.ts"
import type { LogChange } from "./open-turn.ts"
import type { SessionData } from "./session-data.ts"

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
