import { MeanwhileError, type SessionBusy } from "../../base/error.ts"
import type { SessionId } from "../../task/id.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { TaskStore } from "../../task/store.ts"
import type { SessionData } from "./session-data.ts"

/** The turn that has the log, here or in another process. */
export async function findLiveTurn(store: TaskStore, data: SessionData): Promise<TaskRecord | undefined> {
  const turn = data.turn ? await store.task(data.turn) : undefined
  return turn && !isTerminal(turn.status) ? turn : undefined
}

/** Refuses as `session_busy` while a turn holds the session. */
export async function requireIdle(store: TaskStore, id: SessionId, data: SessionData): Promise<void> {
  const turn = await findLiveTurn(store, data)
  if (!turn) return
  const message = `Session ${id} is busy: its turn ${turn.id} ${describe(turn)}`
  const worker = "worker" in turn ? turn.worker : null
  const details: SessionBusy = { session: id, turn: turn.id, status: turn.status, worker }
  throw new MeanwhileError("session_busy", message, details)
}

function describe({ status }: TaskRecord): string {
  return status === "waiting"
    ? "waits for a person. Answer what it asks, or cancel it."
    : `is ${status}. Wait for it to end, or cancel it.`
}
