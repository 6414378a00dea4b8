import type { Runtime } from "../../app.ts"
import { formatEnd, plain, type TaskId } from "../format.ts"
import type { Screen } from "../screen/screen.ts"
import { awaitAnswer, awaitElsewhere, type BusyTurn, TAKEN_OVER } from "../turn-elsewhere.ts"

type Session = Awaited<ReturnType<Runtime["createSession"]>>
type SessionId = Session["id"]

/** What asks a person is told of among the questions. */
const UNDER_WAY = ["queued", "running", "stopping"] as const
const ANSWERED_ELSEWHERE =
  "(another program answers in this conversation; the answer is shown when it is there, and Ctrl+C stops it)"

/** The turns of a chat's conversations that this process has not got, and that what is said here waits for. */
export interface TurnsElsewhere {
  /** Another worker has taken over the turn of this chat: says so, and shows its answer when it is there. */
  follow(session: Session, turn: TaskId): Promise<void>
  /** A turn that goes on without this chat, which has just opened its conversation: shows its answer when it is there. */
  join(session: Session): Promise<void>
  /** Resolves when the turn has ended. A question that it waits with is shown, and then its answer. */
  hold(session: Session, busy: BusyTurn): Promise<void>
  /** Stops the one that a session has: resolves when the store knows. Undefined: it has none. */
  stop(session: SessionId, reason: string): Promise<unknown> | undefined
  /** Whether it stands still until a person has answered. */
  isAsking(session: SessionId): boolean
  /** Resolves when another one comes to stand still. */
  nextQuestion(): Promise<void>
}

export interface TurnsElsewhereOptions {
  readonly meanwhile: Runtime
  readonly screen: Screen
  /** Nobody waits any more. */
  readonly signal: AbortSignal
}

export function createTurnsElsewhere({ meanwhile, screen, signal }: TurnsElsewhereOptions): TurnsElsewhere {
  const turns = new Map<SessionId, TaskId>()
  const asking = new Set<SessionId>()
  let question = Promise.withResolvers<void>()

  function toScope(session: Session) {
    const onQuestion = (text: string | null): void => {
      if (text === null) return void asking.delete(session.id)
      screen.print(screen.style.yellow(text))
      asking.add(session.id)
      question.resolve()
      question = Promise.withResolvers()
    }
    return { meanwhile, session, signal, command: "/answer", onQuestion }
  }

  async function showAnswer(session: Session, turn: TaskId): Promise<void> {
    const { task, text, isShown } = await awaitAnswer(toScope(session), turn)
    if (isShown || signal.aborted) return
    if (task.status !== "completed") screen.print(`The turn ${formatEnd(task)}`)
    else if (text !== "") screen.print(plain(text))
  }

  async function during(session: Session, turn: TaskId, work: Promise<unknown>): Promise<void> {
    turns.set(session.id, turn)
    try {
      await work
    } finally {
      turns.delete(session.id)
      asking.delete(session.id)
    }
  }

  return {
    async follow(session, turn) {
      screen.print(screen.style.dim(TAKEN_OVER))
      await during(session, turn, showAnswer(session, turn))
    },
    async join(session) {
      const { items } = await meanwhile.tasks.list({ session: session.id, kinds: ["turn"], statuses: UNDER_WAY })
      const [turn] = items.filter(({ id }) => !meanwhile.tasks.runsHere(id))
      if (!turn) return
      if (turn.status !== "queued") screen.print(screen.style.dim(ANSWERED_ELSEWHERE))
      await during(session, turn.id, showAnswer(session, turn.id))
    },
    hold(session, { turn, isWaiting }) {
      // Whoever has a turn that runs shows what it says.
      const held = isWaiting ? showAnswer(session, turn) : awaitElsewhere(toScope(session), turn)
      return during(session, turn, held)
    },
    stop(session, reason) {
      const turn = turns.get(session)
      return turn && meanwhile.tasks.cancel(turn, { by: "person", reason })
    },
    isAsking: (session) => asking.has(session),
    nextQuestion: () => question.promise,
  }
}
