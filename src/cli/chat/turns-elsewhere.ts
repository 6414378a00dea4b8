import type { Desk } from "../../desk/desk.ts"
import type { BusyTurn, TurnWait } from "../../desk/turns.ts"
import { formatEnd, plain, type TaskId } from "../format/format.ts"
import { formatAsked } from "../question/inbox.ts"
import type { Screen } from "../screen/screen.ts"
import type { Session } from "../start/start-session.ts"

type SessionId = Session["id"]

const ANSWERED_ELSEWHERE =
  "(another program answers in this conversation; the answer is shown when it is there, and Ctrl+C stops it)"
/** Shown when another worker has taken over a turn of this program. */
export const TAKEN_OVER =
  "(this program was silent for longer than its lease: another worker goes on with the answer, which is shown when it is there)"

export interface TurnsElsewhereOptions {
  readonly desk: Pick<Desk, "turns" | "tasks">
  readonly screen: Screen
  /** Aborted when nobody waits for these turns any more. */
  readonly signal: AbortSignal
}

/** The turns of a chat's conversations that other processes have, and that messages of this chat wait for. */
export function createTurnsElsewhere({ desk, screen, signal }: TurnsElsewhereOptions) {
  const turns = new Map<SessionId, TaskId>()
  const asking = new Set<SessionId>()
  let question = Promise.withResolvers<void>()

  function toWait(session: Session): TurnWait {
    return {
      signal,
      async onQuestion(item) {
        if (item === null) return void asking.delete(session.id)
        asking.add(session.id)
        screen.print(screen.style.yellow(await formatAsked(desk, item, "/answer", screen)))
        question.resolve()
        question = Promise.withResolvers()
      },
    }
  }

  async function showAnswer(session: Session, turn: TaskId): Promise<void> {
    const { task, text, isShown } = await desk.turns.answer(session, turn, toWait(session))
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
    /** Another worker has taken over the turn of this chat: says so, and shows the answer when it is there. */
    async follow(session: Session, turn: TaskId): Promise<void> {
      screen.print(screen.style.dim(TAKEN_OVER))
      await during(session, turn, showAnswer(session, turn))
    },
    /** A turn of another process in a conversation that was just opened: shows the answer when it is there. */
    async join(session: Session): Promise<void> {
      const live = (await desk.turns.list()).filter((turn) => turn.session === session.id)
      // A turn that waits for a person is shown among the questions.
      const turn = live.find(({ status, where }) => status === "queued" || where === "elsewhere")
      if (!turn) return
      if (turn.status !== "queued") screen.print(screen.style.dim(ANSWERED_ELSEWHERE))
      await during(session, turn.id, showAnswer(session, turn.id))
    },
    /** Resolves when the turn has ended. If the turn waits with a question, shows the question, and then the answer. */
    hold(session: Session, { turn, isWaiting }: BusyTurn): Promise<void> {
      // The process that runs a turn shows what it says.
      const held = isWaiting ? showAnswer(session, turn) : desk.turns.wait(turn, toWait(session))
      return during(session, turn, held)
    },
    /** Stops the followed turn of a session: resolves when the store knows. Undefined: there is none. */
    stop(session: SessionId, reason: string): Promise<unknown> | undefined {
      const turn = turns.get(session)
      return turn && desk.turns.stop(turn, { by: "person", reason })
    },
    /** True if the followed turn of the session waits for a person. */
    isAsking: (session: SessionId): boolean => asking.has(session),
    /** Resolves when another turn begins to wait for a person. */
    nextQuestion: (): Promise<void> => question.promise,
  }
}
