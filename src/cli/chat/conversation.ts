import type { Runtime } from "../../app.ts"
import { toErrorMessage } from "../../base/error.ts"
import { plain, shortId } from "../format.ts"
import type { Screen } from "../screen/screen.ts"

export type Session = Awaited<ReturnType<Runtime["createSession"]>>
type SessionId = Session["id"]

/** The session a person talks with now, which a command can exchange for another. */
export interface Conversation {
  readonly session: Session
  /** Says it now, or when the turn before has ended. Resolves when its own has; what goes wrong is told. */
  say(message: string): Promise<void>
  /** Stops the turn that runs. False when there is none. */
  stop(): boolean
  /** Whether a turn of the session was asked for here, and its end is told here. */
  isAwaited(session: SessionId): boolean
  /** Messages that have not been answered yet. */
  count(): number
  switchTo(id: SessionId): Promise<void>
  /** Resolves when every message was answered. */
  allAnswered(): Promise<void>
  /** From now on nothing is told: the program ends. */
  close(): void
}

export function createConversation(meanwhile: Runtime, screen: Screen, first: Session): Conversation {
  let session = first
  let isClosed = false
  const awaited: { readonly session: SessionId; readonly turn: Promise<void> }[] = []

  async function take(own: Session, message: string): Promise<void> {
    try {
      await own.send(message)
    } catch (error) {
      if (!isClosed) screen.print(screen.style.red(plain(toErrorMessage(error))))
    }
  }

  return {
    get session() {
      return session
    },
    async say(message) {
      if (session.isBusy || awaited.some((one) => one.session === session.id)) {
        screen.print(screen.style.dim("(queued: the model hears it when it has answered; Ctrl+C stops the answer)"))
      }
      const one = { session: session.id, turn: take(session, message) }
      awaited.push(one)
      await one.turn
      awaited.splice(awaited.indexOf(one), 1)
    },
    stop: () => session.stop("stopped by Ctrl+C"),
    isAwaited: (id) => awaited.some((one) => one.session === id),
    count: () => awaited.length,
    async switchTo(id) {
      session = await meanwhile.openSession(id)
      if (session.isBusy) screen.print(screen.style.dim(`(a turn of ${shortId(id)} goes on)`))
    },
    async allAnswered() {
      while (awaited.length > 0) await Promise.all(awaited.map(({ turn }) => turn))
    },
    close() {
      isClosed = true
    },
  }
}
