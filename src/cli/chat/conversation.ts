import { isMeanwhileError, toErrorMessage } from "../../base/error.ts"
import type { Desk } from "../../desk/desk.ts"
import { type BusyTurn, toBusyTurn, toTakenTurn } from "../../desk/turns.ts"
import { isForsaken } from "../start/away-store.ts"
import { formatDuration, plain, shortId, type TaskId } from "../format/format.ts"
import type { Screen } from "../screen/screen.ts"
import { hintAtStop } from "./away-hint.ts"
import type { OpenedRuntime } from "../start/open-runtime.ts"
import type { Session } from "../start/start-session.ts"
import { createTurnsElsewhere } from "./turns-elsewhere.ts"

const STOP_REASON = "stopped by Ctrl+C"
const HELD =
  "(queued: another program answers in this conversation, and the model hears it when that has ended; Ctrl+C stops that answer)"
const HELD_BY_QUESTION =
  "(queued: the answer before waits for you, and the model hears this when that has ended; Ctrl+C stops that answer)"

type SessionId = Session["id"]

/** The session a person talks with now. A command can switch to another one. */
export interface Conversation {
  readonly session: Session
  /** Says the message now, or when the turn before has ended. Resolves when its own turn has ended; prints errors. */
  say(message: string): Promise<void>
  /** Stops the turn that runs. False if none runs. */
  stop(): boolean
  /** True if a message of this chat began the session's turn: the chat tells how it ends. */
  isAwaited(session: SessionId): boolean
  /** The sessions of the chat in which a turn goes on that nobody has stopped. */
  answering(): ReadonlySet<SessionId>
  /** Messages that wait for an earlier turn, here or elsewhere: the model has not heard them. */
  unsaid(): readonly string[]
  /** Messages that the store did not keep, because it was away when the person left. */
  lost(): readonly string[]
  /** Turns that were stopped here while the store could not record the stop. */
  unwrittenStops(): readonly TaskId[]
  switchTo(id: SessionId): Promise<void>
  /** If another program answers in this conversation, shows the answer when it is there. */
  joinElsewhere(): void
  /** Resolves when every message was answered, except those behind a question to a person. */
  allAnswered(): Promise<void>
  /** Prints nothing from now on: the program ends. */
  close(): void
}

export interface ConversationOptions extends Pick<OpenedRuntime, "isStoreAway" | "gone"> {
  readonly meanwhile: Pick<OpenedRuntime["meanwhile"], "openSession">
  readonly desk: Pick<Desk, "turns" | "tasks">
  readonly screen: Screen
  readonly first: Session
  /** After how long the calls of the running turn move to the background; null: not known. */
  readonly backgroundAfterMs: (session: SessionId) => number | null
}

interface SaidMessage {
  readonly session: SessionId
  readonly message: string
  /** True while the message waits behind another one of this chat. */
  isQueued: boolean
  /** True while the message waits behind a turn of another process. */
  isHeld: boolean
  /** The last turn of the session that had ended when the model heard it. */
  before: LastTurn
  turn: Promise<void>
}

type LastTurn = ReturnType<Session["turns"]>[number] | undefined

export function createConversation(options: ConversationOptions): Conversation {
  const { meanwhile, desk, screen, first } = options
  let session = first
  const closing = new AbortController()
  const elsewhere = createTurnsElsewhere({ desk, screen, signal: closing.signal })
  const awaited: SaidMessage[] = []
  const lost: string[] = []
  /** Messages whose turn was stopped, until the store has recorded it. */
  const stopped = new Map<SaidMessage, TurnStop>()

  /** Sends a message once no other process has the conversation. */
  async function take(own: Session, one: SaidMessage): Promise<void> {
    try {
      if (findBefore(one, awaited).some(({ isHeld }) => isHeld)) await hold(own, one, null)
      while (!closing.signal.aborted) {
        const busy = await send(own, one)
        if (!busy) return
        await hold(own, one, busy)
      }
    } catch (error) {
      if (!isMeanwhileError(error, "store_unavailable")) stopped.delete(one)
      else if (!toStoppedTurn(stopped.get(one))) lost.push(one.message)
      const turn = toTakenTurn(error)
      if (turn && !closing.signal.aborted) return elsewhere.follow(own, turn).catch(tell)
      tell(error)
    }
  }

  /** Sends a message, and returns the turn that holds the session if the message must wait. Undefined: it was sent. */
  async function send(own: Session, one: SaidMessage): Promise<BusyTurn | undefined> {
    try {
      await desk.turns.send(own, one.message, { isQueued: own.isBusy || findBefore(one, awaited).length > 0 })
      // When the program ends, `send` also returns before the stop is written.
      if (!closing.signal.aborted) stopped.delete(one)
      return undefined
    } catch (error) {
      const busy = toBusyTurn(error)
      if (!busy) throw error
      if (!one.isQueued) screen.print(screen.style.dim(busy.isWaiting ? HELD_BY_QUESTION : HELD))
      return busy
    }
  }

  async function hold(own: Session, one: SaidMessage, busy: BusyTurn | null): Promise<void> {
    one.isHeld = true
    await Promise.all(findBefore(one, awaited).map((other) => other.turn))
    if (busy) await elsewhere.hold(own, busy)
    one.isHeld = false
  }

  function tell(error: unknown): void {
    if (closing.signal.aborted || isForsaken(error, options.gone)) return
    screen.print(screen.style.red(plain(toErrorMessage(error))))
  }

  function joinElsewhere(): void {
    if (!session.isBusy) void elsewhere.join(session).catch(tell)
  }

  return {
    get session() {
      return session
    },
    joinElsewhere,
    async say(message) {
      const own = session
      const isQueued = own.isBusy || awaited.some((one) => one.session === own.id)
      if (isQueued) screen.print(screen.style.dim(describeQueued(options.backgroundAfterMs(own.id))))
      const before = own.turns().at(-1)
      const one: SaidMessage = { session: own.id, message, isQueued, isHeld: false, before, turn: Promise.resolve() }
      awaited.push(one)
      one.turn = take(own, one)
      await one.turn
      awaited.splice(awaited.indexOf(one), 1)
      const next = awaited.find((other) => other.session === own.id)
      if (next) Object.assign(next, { isQueued: false, before: own.turns().at(-1) })
    },
    stop() {
      const stop = toTurnStop(session)
      const one = awaited.find((other) => other.session === session.id)
      const isHere = session.stop(STOP_REASON)
      // A turn that has its answer is not stopped: only its end is not in the store yet.
      const isAnswered = one !== undefined && isHeard(one) && stop.before !== one.before
      if (isHere && one && !isAnswered && !stopped.has(one)) stopped.set(one, stop)
      const done = isHere ? one?.turn : elsewhere.stop(session.id, STOP_REASON)?.catch(tell)
      if (done) hintAtStop(options, done)
      return isHere || done !== undefined
    },
    isAwaited: (id) => awaited.some((one) => one.session === id),
    answering() {
      const going = awaited.filter((one) => isHeard(one) && !stopped.has(one)).map((one) => one.session)
      return new Set(isGoing(session, stopped.values()) ? [...going, session.id] : going)
    },
    unsaid: () => awaited.flatMap((one) => (isHeard(one) ? [] : [one.message])),
    lost: () => lost,
    unwrittenStops: () => [...stopped.values()].flatMap((stop) => toStoppedTurn(stop) ?? []),
    async switchTo(id) {
      session = await meanwhile.openSession(id)
      if (session.isBusy) screen.print(screen.style.dim(`(a turn of ${shortId(id)} goes on)`))
      joinElsewhere()
    },
    async allAnswered() {
      for (;;) {
        const going = awaited.filter((one) => !elsewhere.isAsking(one.session))
        if (going.length === 0) return
        await Promise.race([Promise.all(going.map(({ turn }) => turn)), elsewhere.nextQuestion()])
      }
    },
    close: () => closing.abort(),
  }
}

function findBefore(one: SaidMessage, all: readonly SaidMessage[]): readonly SaidMessage[] {
  return all.slice(0, all.indexOf(one)).filter(({ session }) => session === one.session)
}

const isGoing = (session: Session, stops: Iterable<TurnStop>): boolean =>
  session.isBusy && ![...stops].some((stop) => stop.session === session)

const isHeard = ({ isQueued, isHeld }: SaidMessage): boolean => !isQueued && !isHeld

function describeQueued(backgroundAfterMs: number | null): string {
  const when =
    backgroundAfterMs === null
      ? "when it has answered"
      : `when it has answered; what it waits for moves to the background after ${formatDuration(backgroundAfterMs)}, or now with /bg`
  return `(queued: the model hears it ${when}; Ctrl+C stops the answer)`
}

/** A stop of a session's turn that the store has not recorded yet. */
interface TurnStop {
  readonly session: Pick<Session, "turns">
  /** The last turn that had ended before the stop. */
  readonly before: LastTurn
}

/** Call it before the session is told to stop. */
export function toTurnStop(session: Pick<Session, "turns">): TurnStop {
  return { session, before: session.turns().at(-1) }
}

/** The turn that the stop ended; null: the turn had not begun, or was not stopped. */
export function toStoppedTurn(stop: TurnStop | undefined): TaskId | null {
  const last = stop?.session.turns().at(-1)
  return last && last !== stop?.before && last.outcome === "stopped" ? last.turn : null
}
