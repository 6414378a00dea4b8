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

export interface ElsewhereScope {
  readonly meanwhile: Runtime
  readonly screen: Screen
  readonly session: Session
  /** Nobody waits any more. */
  readonly signal: AbortSignal
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
    const [said] = await session.recall({ count: 1 })
    if (said?.by === "agent") screen.print(plain(said.text))
  } finally {
    unlisten()
  }
}
