import { whenAborted } from "../../base/when-aborted.ts"
import { closeUnlessAway, tellLost, unlessAway } from "../start/away-store.ts"
import type { Desk } from "../../desk/desk.ts"
import { countOf, plain, shortId, type Task, type TaskId, toLine } from "../format/format.ts"
import type { Screen } from "../screen/screen.ts"
import { AT_NEXT_START, describeHandoff } from "../format/format-worker.ts"
import type { Announcer } from "./announcer.ts"
import type { Conversation } from "./conversation.ts"
import type { Interrupts } from "../start/interrupts.ts"
import type { OpenedRuntime } from "../start/open-runtime.ts"
import type { LeftTurns } from "./left-turns.ts"

/** Why a chat ends. */
export type Ending = "quit" | "end of input" | "interrupt"

export interface EndingParts extends Pick<OpenedRuntime, "meanwhile" | "leave"> {
  readonly desk: Pick<Desk, "ended" | "inbox" | "workers">
  readonly screen: Screen
  readonly interrupts: Interrupts
  readonly announcer: Announcer
  readonly conversation: Conversation
  readonly leftTurns: LeftTurns
  /** Commands whose effect the store may not have kept. */
  readonly givenBack: readonly string[]
  /** Messages that came behind a `/quit`. */
  readonly behindQuit: readonly string[]
  /** Resolves when every event so far is shown. */
  readonly allShown: () => Promise<void>
  /** The command that starts the program for this store. */
  readonly words: string
}

/** The time that leaving by Ctrl+C gives to running tasks. One more Ctrl+C ends it. */
const DRAIN_MS = 3_000

/** At the end of input running work may finish; `/quit` stops it; Ctrl+C gives it a moment, one more Ctrl+C none. */
export async function shutDown(parts: EndingParts, ending: Ending): Promise<void> {
  const { meanwhile, desk, screen, interrupts, announcer, conversation, leftTurns, words } = parts
  const hurry = new AbortController()
  const forget = interrupts.onEach((interrupt) => {
    if (interrupt === "hangup" && ending === "interrupt") return
    hurry.abort()
    parts.leave()
  })
  if (ending !== "end of input") tellUnsaid(parts)
  if ((conversation.isAnswering() || leftTurns.count() > 0) && ending !== "end of input") {
    const unless = ending === "interrupt" ? `, unless it ends within ${DRAIN_MS / 1_000} seconds,` : ""
    const succession = await unlessAway(describeHandoff(desk, { kind: "turn" }), AT_NEXT_START)
    screen.print(`The turn that runs${unless} goes on ${succession}.`)
  }
  const drainMs = ending === "interrupt" ? DRAIN_MS : 0
  const going = await announcer.news.going()
  if (going.length > 0 && ending === "end of input")
    screen.print(`Waiting for ${countOf(going.length, "task")} to end. Ctrl+C stops at once.`)
  else await tellGoing(parts, going, drainMs)
  if (ending === "end of input") {
    await unlessAway(finish(parts, hurry.signal), undefined)
    tellUnsaid(parts)
  }
  await unlessAway(tellKept(desk, screen, words), undefined)
  conversation.close()
  announcer.news.close()
  leftTurns.close()
  await desk.ended.kept()
  const isClosed = await closeUnlessAway(meanwhile, { drainMs, signal: hurry.signal })
  if (!isClosed) {
    screen.print("The store is away. What was not written yet is found at the next start.")
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

/** Open questions can be answered later, in another chat or from the shell. */
async function tellKept({ inbox }: Pick<Desk, "inbox">, screen: Screen, words: string): Promise<void> {
  const { length } = await inbox.list()
  if (length === 0) return
  screen.print(
    `${countOf(length, "question")} ${length === 1 ? "stays" : "stay"} in the inbox: /inbox in the next chat, or ${words} tasks inbox`,
  )
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
  let isEnding = false
  return {
    end(next: Ending): void {
      if (isEnding && (reason !== "end of input" || next !== "interrupt")) return
      isEnding = true
      reason = next
      if (next !== "end of input") leaveStore()
      wanted.resolve()
    },
    fail: wanted.reject,
    /** Resolves when the chat is to end, and rejects when it has failed. */
    wanted: wanted.promise,
    /** The reason that counts so far. */
    reason: (): Ending => reason,
  }
}

/**
 * Says what leaving does to tasks that go on: this process stops its commands after `drainMs`; other tasks stay with
 * others.
 */
async function tellGoing(
  { desk, screen, announcer, words }: EndingParts,
  ids: readonly TaskId[],
  drainMs: number,
): Promise<void> {
  const { stopped, left, queued, isStoreAway } = await announcer.news.departure(ids)
  const unclaimed = await unlessAway(countUnclaimed(desk, queued), 0)
  const going = left - unclaimed
  if (going > 0)
    screen.print(`${countOf(going, "task")} ${going === 1 ? "goes" : "go"} on without this chat: ${words} tasks`)
  if (unclaimed > 0) {
    const wait = `${countOf(unclaimed, "task")} ${unclaimed === 1 ? "waits" : "wait"} for a worker or a chat that runs tasks.`
    screen.print(`${wait} To start a worker: ${words} worker`)
  }
  if (stopped.length === 0) return
  const { length } = stopped
  const stop = isStoreAway
    ? `Cancelling ${countOf(length, "task")}. The store is away: the next chat or worker records the end.`
    : describeStop(length, drainMs)
  screen.print(`${stop} To run ${length === 1 ? "it" : "one"} again: ${words} tasks retry ID`)
  for (const { id, title = "" } of stopped) screen.print(`  [${shortId(id)}] ${toLine(title)}`.trimEnd())
}

/** Counts the tasks that no other process would take. */
async function countUnclaimed({ workers }: Pick<Desk, "workers">, queued: readonly Task[]): Promise<number> {
  let count = 0
  for (const [one, ...others] of Map.groupBy(queued, ({ plugin, tool }) => `${plugin}/${tool}`).values()) {
    if (one && (await workers.successors(one)).length === 0) count += 1 + others.length
  }
  return count
}

function describeStop(count: number, drainMs: number): string {
  const what = countOf(count, "running task")
  if (drainMs === 0) return `Cancelling ${what}.`
  return `Cancelling ${what} in ${drainMs / 1_000} seconds. Ctrl+C again cancels at once.`
}
