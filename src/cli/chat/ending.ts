import { whenAborted } from "../../base/when-aborted.ts"
import { tellLost, unlessAway } from "../start/away-store.ts"
import type { Desk } from "../../desk/desk.ts"
import type { Departure, TaskHere } from "../../desk/departure.ts"
import { countOf, plain, shortId, type TaskId, toLine } from "../format/format.ts"
import { AT_NEXT_START } from "../format/format-worker.ts"
import type { Screen } from "../screen/screen.ts"
import type { Announcer } from "./announcer.ts"
import type { Conversation } from "./conversation.ts"
import type { Interrupts } from "../start/interrupts.ts"
import { closeAndKeep } from "../start/leave-work.ts"
import type { GlobalOptions, OpenedRuntime } from "../start/open-runtime.ts"
import type { LeftTurns } from "./left-turns.ts"
import { tellQuestionsLeft } from "./questions-left.ts"

/** Why a chat ends. */
export type Ending = "quit" | "end of input" | "interrupt"

/** The fate of this chat's work when it is left. Work of others is kept in any case. */
export type Fate = "keep" | "stop"

/** How long leaving waits until a stop is confirmed. */
const STOP_PATIENCE_MS = 10_000

export interface EndingParts extends Pick<OpenedRuntime, "meanwhile" | "leave" | "dataDirectory"> {
  readonly desk: Pick<Desk, "ended" | "blocked" | "inbox" | "sessions" | "tasks" | "isShared">
  readonly screen: Screen
  readonly interrupts: Interrupts
  readonly announcer: Announcer
  readonly conversation: Conversation
  readonly leftTurns: LeftTurns
  /** Commands whose effect the store may not have kept. */
  readonly givenBack: readonly string[]
  /** Sessions whose turns stood still until the person at the prompt had answered. */
  readonly asking: ReadonlySet<Conversation["session"]["id"]>
  /** The tasks that the person was shown as those that a stop ends. */
  readonly named: ReadonlySet<TaskId>
  /** Messages that came behind a `/quit`. */
  readonly behindQuit: readonly string[]
  /** Resolves when every event so far is shown. */
  readonly allShown: () => Promise<void>
  readonly options: GlobalOptions
  /** The command that starts the program for this store. */
  readonly words: string
}

/**
 * Waits at the end of input until all work has ended; every other way out leaves it: kept, or stopped as far as it is this
 * chat's.
 */
export async function shutDown(parts: EndingParts, ending: Ending, fate: Fate): Promise<void> {
  const { desk, screen, interrupts, announcer, conversation, leftTurns, words } = parts
  const hurry = new AbortController()
  const forget = interrupts.onEach(() => {
    hurry.abort()
    parts.leave()
  })
  const isLeavingAnswer = fate === "keep" && conversation.answering().size + leftTurns.sessions().size > 0
  if (ending !== "end of input") tellUnsaid(parts)
  if (ending === "end of input") {
    const going = await announcer.news.going()
    if (going.length > 0)
      screen.print(
        `Waiting for ${countOf(going.length, "task")} to end. Ctrl+C leaves, and ${going.length === 1 ? "it goes" : "they go"} on.`,
      )
    await unlessAway(finish(parts, hurry.signal), undefined)
    tellUnsaid(parts)
  }
  const departure = await announcer.news.departure()
  const stopped = fate === "stop" ? await stopOwn(parts, departure) : new Set<TaskId>()
  const elsewhere = departure.elsewhere.filter(({ id }) => !stopped.has(id))
  await unlessAway(tellQuestionsLeft(desk, screen, words), undefined)
  conversation.close()
  announcer.news.close()
  leftTurns.close()
  await desk.ended.kept()
  const blocked = await unlessAway(desk.blocked.byQuestion(), undefined)
  const queued = departure.queued.filter(({ id }) => !stopped.has(id))
  const { id } = conversation.session
  const session = (await unlessAway(desk.sessions.isKept(id), false)) ? id : null
  const { isShared } = desk
  const isClosed = await closeAndKeep({ ...parts, session, isShared, queued, elsewhere, blocked, hurry: hurry.signal })
  if (!isClosed) {
    screen.print("The store is away. What was not written yet is found at the next start.")
    if (isLeavingAnswer) screen.print(`The answer goes on ${AT_NEXT_START}.`)
    for (const turn of conversation.unwrittenStops()) screen.print(describeUnwrittenStop(turn, words))
  }
  tellLost([...conversation.lost(), ...parts.givenBack], screen)
  forget()
}

/** Waits until all work has ended, also work that an answer or a report starts meanwhile. */
async function finish(
  { announcer, conversation, leftTurns, allShown }: EndingParts,
  signal: AbortSignal,
): Promise<void> {
  const aborted = whenAborted(signal)
  do {
    await Promise.race([conversation.allAnswered(), aborted])
    await leftTurns.allEnded(signal)
    await announcer.news.allEnded(signal)
    await conversation.session.reported(signal)
    await Promise.race([allShown(), aborted])
  } while (!signal.aborted && (await announcer.news.allEnded(signal)))
}

/** Prints messages that the model never heard, so that a person can copy them. */
function tellUnsaid({ conversation, screen, behindQuit }: EndingParts): void {
  const unsaid = [...conversation.unsaid(), ...behindQuit]
  if (unsaid.length === 0) return
  screen.print([`Queued and not said:`, ...unsaid.map((message) => plain(message).replaceAll(/^/gm, "  "))].join("\n"))
}

function describeUnwrittenStop(turn: TaskId, words: string): string {
  const cancel = `${words} tasks cancel ${shortId(turn)}`
  return `The stop could not be saved: when the store is back, a worker may continue the turn. To stop it then: ${cancel}`
}

/**
 * The reason why a chat ends. The first one counts; only a signal replaces the end of input, which hurries nothing.
 * `leaveStore` gives up waiting for a store that is away; the end of input alone does not call it.
 */
export function createLeaving(leaveStore: () => void) {
  const wanted = Promise.withResolvers<void>()
  let reason: Ending = "end of input"
  let fate: Fate = "keep"
  let isEnding = false
  return {
    end(next: Ending, wish: Fate): void {
      if (isEnding && (reason !== "end of input" || next !== "interrupt")) return
      isEnding = true
      reason = next
      fate = wish
      if (next !== "end of input") leaveStore()
      wanted.resolve()
    },
    fail: wanted.reject,
    /** Resolves when the chat is to end, and rejects when it has failed. */
    wanted: wanted.promise,
    /** The reason that counts so far. */
    reason: (): Ending => reason,
    fate: (): Fate => fate,
  }
}

/** Stops the answer, what this chat has asked for, wherever it runs, and what the person was shown. All else goes on. */
async function stopOwn(
  { desk, screen, conversation, words, named }: EndingParts,
  { here, queued, elsewhere, turns, own: ids }: Departure,
): Promise<ReadonlySet<TaskId>> {
  const otherTurns = turns.filter(({ session }) => session !== conversation.session.id)
  const isOwn = ({ id, lifetime }: TaskHere): boolean => (ids.has(id) || named.has(id)) && lifetime !== "forever"
  const own = [...here, ...queued, ...elsewhere, ...otherTurns].filter(isOwn)
  conversation.stop()
  if (own.length === 0) return new Set()
  const tasks = own.filter(({ kind }) => kind !== "turn").length
  const what = [
    ...(tasks > 0 ? [countOf(tasks, "task")] : []),
    ...(tasks < own.length ? [countOf(own.length - tasks, "answer")] : []),
  ].join(" and ")
  const one = own.length === 1 ? "it" : tasks === 1 ? "the task" : "one"
  const again = tasks > 0 ? ` To run ${one} again: ${words} tasks retry ID` : ""
  screen.print([`Cancelling ${what}.${again}`, ...own.map(nameTask)].join("\n"))
  const request = { reason: "the person left the chat and stopped it" }
  await Promise.all(own.map(({ id }) => unlessAway(stopNow(desk, id, request), undefined)))
  return new Set(own.map(({ id }) => id))
}

/** The line about a task, or about a turn. */
export function nameTask({ id, kind, title = "" }: TaskHere): string {
  return `  [${shortId(id)}] ${kind === "turn" ? "answer: " : ""}${toLine(title)}`.trimEnd()
}

async function stopNow({ tasks }: Pick<Desk, "tasks">, id: TaskId, request: { reason: string }): Promise<void> {
  await tasks.cancel(id, request)
  await tasks.wait(id, { waitMs: STOP_PATIENCE_MS })
}
