import { lookUntil } from "../../base/look-until.ts"
import { unlessAborted } from "../../base/unless-aborted.ts"
import type { SessionId, TaskId } from "../../task/id.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { TaskRecord } from "../../task/record.ts"
import { toSessionBusy } from "../../task/session-busy.ts"
import type { Conversation, HeldMessage, WaitingMessages } from "../conversation/conversation.ts"
import { requireOpen } from "../conversation/context.ts"
import type { Using } from "../conversation/scope.ts"

type BeginWhenFreeScope = Using<"bus" | "clock" | "config" | "open" | "runner" | "store">

/**
 * Begins a turn. `onBegun` is called when the turn is in the store: from then on it is a turn of this process like any
 * other.
 */
type Begin<Result> = (onBegun: () => void) => Promise<Result>

export interface HoldingOptions {
  readonly signal?: AbortSignal | undefined
  /** True if the message waits for no turn, of whichever process. */
  readonly isRefusedWhenBusy: boolean
  readonly onHeld: () => void
}

/**
 * Begins now or, if the session has a turn that was not begun here, when that turn is over: one that this process continues
 * after a crash, or one of another process. A message sent behind a waiting one begins after it. If the turn waits for a
 * person, the message is refused, before or during the wait: only an answer ends such a turn.
 */
export async function beginWhenFree<Result>(
  scope: BeginWhenFreeScope,
  conversation: Conversation,
  begin: Begin<Result>,
  options: HoldingOptions,
): Promise<Result> {
  if (conversation.messages.held.size > 0) return hold(scope, conversation, begin, options)
  const attempt = await tryToBegin(scope, conversation, () => begin(() => {}), options)
  return "result" in attempt ? attempt.result : hold(scope, conversation, begin, options, attempt)
}

/** Withdraws the messages that wait for a turn not begun here; true if there were any. */
export function withdrawHeld({ held }: WaitingMessages, reason: Error): boolean {
  for (const message of held) message.withdraw(reason)
  return held.size > 0
}

async function hold<Result>(
  scope: BeginWhenFreeScope,
  conversation: Conversation,
  begin: Begin<Result>,
  options: HoldingOptions,
  first: Refusal = OVERTAKEN,
): Promise<Result> {
  const withdrawn = new AbortController()
  const over = Promise.withResolvers<void>()
  const before = [...conversation.messages.held].map((message) => message.over)
  const message: HeldMessage = { over: over.promise, withdraw: (reason) => withdrawn.abort(reason) }
  const given = AbortSignal.any([withdrawn.signal, scope.open.closing, ...(options.signal ? [options.signal] : [])])
  const leave = (): void => {
    conversation.messages.held.delete(message)
    over.resolve()
  }
  conversation.messages.held.add(message)
  try {
    requireOpen(scope, conversation)
    options.onHeld()
    await unlessAborted(given, Promise.all(before))
    for (let turn = first.turn; ; ) {
      if (turn) await waitUntilFree(scope, conversation.log.id, turn, given)
      given.throwIfAborted()
      const attempt = await tryToBegin(scope, conversation, () => begin(leave), options)
      if ("result" in attempt) return attempt.result
      turn = attempt.turn
      options.onHeld()
    }
  } finally {
    leave()
  }
}

interface Refusal {
  /** Null if another writer changed the session at the same moment. */
  readonly turn: TaskId | null
}

const OVERTAKEN: Refusal = { turn: null }

/** Returns a refusal that waiting can help with, if the options allow the wait. Throws any other error. */
async function tryToBegin<Result>(
  { runner }: Using<"runner">,
  { log }: Conversation,
  begin: () => Promise<Result>,
  { isRefusedWhenBusy }: HoldingOptions,
): Promise<{ readonly result: Result } | Refusal> {
  try {
    return { result: await begin() }
  } catch (error) {
    const busy = toSessionBusy(error)
    if (!busy) throw error
    const { turn, status } = busy
    if (turn === null) return OVERTAKEN
    const goesOn = status === "queued" ? runner.takesTurns(log.id) : status === "running" || status === "stopping"
    if (isRefusedWhenBusy || !goesOn) throw error
    return { turn }
  }
}

/** Keeps the process alive: a person waits for the answer. */
async function waitUntilFree(
  scope: Using<"bus" | "clock" | "config" | "runner" | "store">,
  session: SessionId,
  turn: TaskId,
  signal: AbortSignal,
): Promise<void> {
  const { bus, clock, store, config } = scope
  await lookUntil({
    clock,
    pollMs: config.background.completionScanIntervalMs,
    keepsProcessAlive: true,
    signals: [signal],
    subscribe: (wake) => bus.subscribeTask(turn, wake),
    async look() {
      const task = await store.task(turn)
      return !task || isFree(scope, session, task) ? true : undefined
    },
  })
}

/** True if the session is free, or waiting cannot free it: a queued turn that no process here may take, or a question. */
function isFree({ runner }: Using<"runner">, session: SessionId, { status }: TaskRecord): boolean {
  return isTerminal(status) || status === "waiting" || (status === "queued" && !runner.takesTurns(session))
}
