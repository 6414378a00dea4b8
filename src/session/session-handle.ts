import { toErrorMessage } from "../base/error.ts"
import { textOf } from "../plugin/message.ts"
import { toClosed } from "./conversation/context.ts"
import type { Conversation } from "./conversation/conversation.ts"
import type { ConversationScope } from "./conversation/scope.ts"
import { readSessionState } from "./saved/session-state.ts"
import { takeTools } from "./conversation/own-tools.ts"
import { withdrawHeld } from "./turn/begin-when-free.ts"

/** One of the objects by which callers hold a conversation open. */
export interface SessionHandle {
  isClosed(): boolean
  /** Refuses as `closed` once the handle is closed. */
  requireOpen(): void
  /** The work, refused as `closed` once the handle is closed. */
  whileOpen<Given extends readonly unknown[], Result>(
    work: (...given: Given) => Promise<Result>,
  ): (...given: Given) => Promise<Result>
  /** Keeps a listener until the handle is closed. Returns the function that removes it. */
  keep(unsubscribe: () => void): () => void
  /** Closes the conversation too if no other handle holds it open. */
  close(): Promise<void>
}

export function takeHandle(scope: ConversationScope, conversation: Conversation): SessionHandle {
  const listeners = new Set<() => void>()
  let closing: Promise<void> | undefined
  conversation.handles += 1

  async function close(): Promise<void> {
    conversation.handles -= 1
    try {
      if (conversation.handles === 0)
        await closeSession(scope, conversation, { isLeft: () => conversation.handles === 0 })
    } finally {
      for (const unsubscribe of listeners) unsubscribe()
      listeners.clear()
    }
  }

  function requireOpen(): void {
    if (closing) throw toClosed(conversation.log.id)
  }

  return {
    isClosed: () => closing !== undefined,
    requireOpen,
    whileOpen:
      (work) =>
      async (...given) => {
        requireOpen()
        return work(...given)
      },
    keep(unsubscribe) {
      listeners.add(unsubscribe)
      return () => {
        listeners.delete(unsubscribe)
        unsubscribe()
      }
    },
    close: () => (closing ??= close()),
  }
}

interface ClosingOptions {
  /** True: the session's tasks go on. It is only closed here, and goes on at the next start. */
  readonly keepsWork?: boolean
  /** False: somebody has taken it in hand again while its last turn ended, and it stays open. */
  readonly isLeft?: () => boolean
}

export async function closeSession(
  scope: ConversationScope,
  conversation: Conversation,
  { keepsWork = false, isLeft = () => true }: ClosingOptions = {},
): Promise<void> {
  const { log, sessionPlugin, emitter } = conversation
  await conversation.queue.done
  if (scope.open.get(log.id) !== conversation || !isLeft()) return
  scope.open.remove(log.id)
  // At once: somebody may open the session again, with tools of its own, before it is closed to the end.
  const areToolsTaken = takeTools(scope, log, log.data.tools)
  withdrawHeld(conversation.messages, toClosed(log.id))
  conversation.reporter?.close()
  try {
    if (log.data.turns > 0 && sessionPlugin?.onSessionEnded) {
      await sessionPlugin.onSessionEnded(await readSessionState(scope, conversation))
    }
    await log.paid.settle()
  } catch (error) {
    scope.log.warn("a session could not be saved at its end", { session: log.id, error: toErrorMessage(error) })
  }
  const last = log.history.at(-1)
  emitter.emit({ type: "agent.completed", text: last?.role === "assistant" ? textOf(last) : "" })
  if (!keepsWork || !log.isKept) await scope.runner.closeSession(log.id)
  await areToolsTaken
}
