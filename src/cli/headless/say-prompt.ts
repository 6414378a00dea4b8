import { isMeanwhileError, toErrorMessage } from "../../base/error.ts"
import type { Desk } from "../../desk/desk.ts"
import { type BusyTurn, toBusyTurn, toTakenTurn, type TurnWait } from "../../desk/turns.ts"
import { unlessAway } from "../start/away-store.ts"
import { formatEnd, plain, type TaskId } from "../format/format.ts"
import { formatAsked } from "../question/inbox.ts"
import { TAKEN_OVER } from "../chat/turns-elsewhere.ts"
import type { Screen } from "../screen/screen.ts"
import type { Session } from "../start/start-session.ts"
import { describeStop, type PromptRun, type Said } from "./run-outcome.ts"

const BUSY = "(another program answers in this conversation: the prompt is said when that has ended)"

export interface SayingScope extends Pick<PromptRun, "signal" | "words"> {
  readonly desk: Pick<Desk, "turns" | "tasks">
  readonly session: Session
  /** Null: the caller prints the answer. */
  readonly answers: Screen | null
  readonly notes: Screen
}

/** Says the prompt once no other process has the conversation, and waits for the answer, even if another worker gives it. */
export async function sayPrompt(scope: SayingScope, prompt: string): Promise<Said> {
  const { session, signal } = scope
  const turnsBefore = session.turns().length
  for (;;) {
    try {
      const { outcome, text, accounting } = await scope.desk.turns.send(session, prompt, { signal })
      const error = outcome === "stopped" ? describeStop(signal) : null
      return { outcome, text, error, accounting }
    } catch (error) {
      const taken = toTakenTurn(error)
      if (taken) return await followTaken(scope, taken)
      const busy = signal.aborted ? undefined : toBusyTurn(error)
      if (busy && !(await isFree(scope, busy))) return WAITING
      if (busy) continue
      const isUnsaid = session.turns().length === turnsBefore && isMeanwhileError(error, "invalid_input")
      return isUnsaid ? refused(error) : failed(scope, error)
    }
  }
}

/** Waits for the turn before. False if only a person can bring that turn to its end. */
async function isFree(scope: SayingScope, { turn, isWaiting }: BusyTurn): Promise<boolean> {
  if (!isWaiting) scope.notes.print(BUSY)
  const task = await scope.desk.turns.wait(turn, toWait(scope))
  return "endedAt" in task || scope.signal.aborted
}

/** Waits for the prompt's own turn, which goes on in another process. */
async function followTaken(scope: SayingScope, turn: TaskId): Promise<Said> {
  const { desk, session, answers, notes, signal } = scope
  notes.print(TAKEN_OVER)
  const { task, text, isShown } = await desk.turns.answer(session, turn, toWait(scope))
  const accounting = session.turns().findLast((one) => one.turn === turn) ?? null
  if (task.status === "completed") {
    if (!isShown) answers?.print(plain(text))
    return { outcome: "completed", text, error: null, accounting }
  }
  if (signal.aborted) {
    const stop = desk.turns.stop(turn, { by: "person", reason: describeStop(signal) })
    await unlessAway(stop, undefined)
    return { outcome: "stopped", text, error: describeStop(signal), accounting }
  }
  if (task.status === "waiting") return WAITING
  const outcome = task.status === "cancelled" ? "stopped" : "failed"
  return { outcome, text, error: `The turn ${formatEnd(task)}`, accounting }
}

/** No person is here to answer: the first question is printed, and ends the wait. */
function toWait({ desk, notes, words, signal }: SayingScope): TurnWait {
  const asked = new AbortController()
  return {
    signal: AbortSignal.any([signal, asked.signal]),
    async onQuestion(item) {
      if (item) notes.print(await formatAsked(desk, item, `${words} tasks answer`, notes))
      asked.abort()
    },
  }
}

const WAITING: Said = { outcome: "waiting", text: "", error: null, accounting: null }

/** A prompt of which nothing is kept, and which would be refused again. */
function refused(error: unknown): Said {
  return { outcome: "refused", text: "", error: toErrorMessage(error), accounting: null }
}

function failed({ session, signal }: SayingScope, error: unknown): Said {
  const accounting = session.turns().at(-1) ?? null
  if (signal.aborted) return { outcome: "stopped", text: "", error: describeStop(signal), accounting }
  return { outcome: "failed", text: "", error: toErrorMessage(error), accounting }
}
