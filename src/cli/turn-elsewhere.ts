import type { Runtime } from "../app.ts"
import { isMeanwhileError } from "../base/error.ts"
import type { Task, TaskId } from "./format.ts"
import { describeAsked, formatQuestion } from "./inbox.ts"
import { openDesk } from "./person-desk.ts"

type Session = Awaited<ReturnType<Runtime["createSession"]>>

/** How often a turn that has not ended is looked at: it may need a person by now. */
const LOOK_EVERY_MS = 1_000

/** How it reads that another worker has taken the turn over. */
export const TAKEN_OVER =
  "(this program was silent for longer than its lease: another worker goes on with the answer, which is shown when it is there)"

/** The turn that another worker has taken over from this process; undefined when that is not what the error says. */
export function toTakenTurn(error: unknown): TaskId | undefined {
  const id = isMeanwhileError(error, "stale_claim") ? error.details["taskId"] : undefined
  return typeof id === "string" ? (id as TaskId) : undefined
}

/** The turn that a message is refused for. */
export interface BusyTurn {
  readonly turn: TaskId
  /** Nobody has it until a person has answered. */
  readonly isWaiting: boolean
}

export function toBusyTurn(error: unknown): BusyTurn | undefined {
  if (!isMeanwhileError(error, "session_busy") || error.details.turn === null) return undefined
  const { turn, status } = error.details
  return { turn: turn as TaskId, isWaiting: status === "waiting" }
}

export interface ElsewhereScope {
  readonly meanwhile: Runtime
  /** Nobody waits any more. */
  readonly signal: AbortSignal
  /** How a question is answered: what stands before its id. */
  readonly command: string
  /** The turn stands still until a person has answered this; null: it has been answered. */
  readonly onQuestion: (text: string | null) => void
}

/** The turn when it has ended, or as it stands when nobody waits any more. */
export async function awaitElsewhere(scope: ElsewhereScope, turn: TaskId): Promise<Task> {
  const { meanwhile, signal, onQuestion } = scope
  let asked: string | null = null
  for (let waitMs = 0; ; waitMs = LOOK_EVERY_MS) {
    const { task } = await meanwhile.tasks.result(turn, { waitMs, signal })
    if ("endedAt" in task || signal.aborted) return task
    const question = await findQuestion(scope, task)
    if (question !== asked) onQuestion(question)
    asked = question
  }
}

async function findQuestion({ meanwhile, command }: ElsewhereScope, task: Task): Promise<string | null> {
  const desk = openDesk(meanwhile)
  const item = task.status === "waiting" ? await desk.inbox.of(task.id) : undefined
  return item ? formatQuestion(item, command, await describeAsked(desk, item)) : null
}

/** How a turn of another process stands, and what it said. */
export interface AnswerElsewhere {
  readonly task: Task
  readonly text: string
  /** It came back to this process, which has shown its answer. */
  readonly isShown: boolean
}

export async function awaitAnswer(
  scope: ElsewhereScope & { readonly session: Session },
  turn: TaskId,
): Promise<AnswerElsewhere> {
  const { session } = scope
  let isShown = false
  const unlisten = session.on((event) => {
    if (event.type === "turn.completed" && event.accounting.turn === turn) isShown = true
  })
  try {
    const task = await awaitElsewhere(scope, turn)
    if (task.status !== "completed") return { task, text: "", isShown }
    // Without what was said since: the next message may have been heard already.
    const said = await session.recall({ count: 1, before: task.endedAt + 1 })
    return { task, text: said.find(({ by }) => by === "agent")?.text ?? "", isShown }
  } finally {
    unlisten()
  }
}
