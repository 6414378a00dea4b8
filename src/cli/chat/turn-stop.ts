import type { Runtime } from "../../app.ts"
import type { TaskId } from "../format.ts"

type Session = Pick<Awaited<ReturnType<Runtime["createSession"]>>, "turns">

/** A stop of the turn that a session has, of which the store does not know yet. */
export interface TurnStop {
  readonly session: Session
  /** The last turn that had ended before. */
  readonly before: ReturnType<Session["turns"]>[number] | undefined
}

/** Taken before the session is told. */
export function toTurnStop(session: Session): TurnStop {
  return { session, before: session.turns().at(-1) }
}

/** The turn that it ended; null: it had not begun. */
export function toStoppedTurn(stop: TurnStop | undefined): TaskId | null {
  const last = stop?.session.turns().at(-1)
  return last && last !== stop?.before && last.outcome === "stopped" ? last.turn : null
}
