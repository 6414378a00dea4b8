import type { Runtime } from "../../app.ts"
import { isMeanwhileError } from "../../base/error.ts"
import { formatEnd, plain, type TaskId } from "../format.ts"
import type { Screen } from "../screen/screen.ts"

type Session = Awaited<ReturnType<Runtime["createSession"]>>

const LONG_MS = 24 * 60 * 60 * 1_000
const TAKEN_OVER =
  "(this program was silent for longer than its lease: another worker goes on with the answer, which is shown when it is there)"

/** The turn that another worker has taken over from this process; undefined when that is not what the error says. */
export function toTakenTurn(error: unknown): TaskId | undefined {
  const id = isMeanwhileError(error, "stale_claim") ? error.details["taskId"] : undefined
  return typeof id === "string" ? (id as TaskId) : undefined
}

/** The turn of another process that a message is refused for, when it ends without anybody here. */
export function toBusyTurn(error: unknown): TaskId | undefined {
  if (!isMeanwhileError(error, "wrong_state")) return undefined
  const { turn, status } = error.details
  const isGoing = status === "queued" || status === "running" || status === "stopping"
  return isGoing && typeof turn === "string" ? (turn as TaskId) : undefined
}

/** Whether another process said something at the same moment, so that this was not taken. */
export function isOvertaken(error: unknown): boolean {
  return isMeanwhileError(error, "wrong_state") && error.details["isOvertaken"] === true
}

interface AwaitingScope {
  readonly meanwhile: Runtime
  /** Nobody waits any more. */
  readonly signal: AbortSignal
}

export interface ElsewhereScope extends AwaitingScope {
  readonly screen: Screen
  readonly session: Session
}

/** Resolves when the turn has ended, or nobody waits any more. */
export async function awaitElsewhere({ meanwhile, signal }: AwaitingScope, turn: TaskId): Promise<void> {
  await meanwhile.tasks.result(turn, { waitMs: LONG_MS, signal })
}

/** Says so, waits for the end of the turn, and shows its answer, unless the turn came back and did that itself. */
export async function followElsewhere(scope: ElsewhereScope, turn: TaskId): Promise<void> {
  const { meanwhile, screen, session, signal } = scope
  let isBack = false
  const unlisten = session.on((event) => {
    if (event.type === "turn.completed" && event.accounting.turn === turn) isBack = true
  })
  screen.print(screen.style.dim(TAKEN_OVER))
  try {
    const { task } = await meanwhile.tasks.result(turn, { waitMs: LONG_MS, signal })
    if (isBack || signal.aborted) return
    if (task.status !== "completed") return screen.print(`The turn ${formatEnd(task)}`)
    // Without what was said since: the next message may have been heard already.
    const said = await session.recall({ count: 1, before: task.endedAt + 1 })
    for (const { by, text } of said) if (by === "agent") screen.print(plain(text))
  } finally {
    unlisten()
  }
}
