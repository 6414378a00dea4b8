import type { Conversation } from "../conversation/conversation.ts"
import { contextUsage, type ContextScope } from "../conversation/context.ts"
import type { LogChange } from "../log/session-log.ts"
import { toSettleOperations } from "../log/settle-operations.ts"
import { type Delivery, keepEnded, keysOf, toKeyText } from "./delivery.ts"
import { toNoticeText } from "./delivery-text.ts"
import { readDeliverable } from "./read-deliverable.ts"
import { readSaid, type SaidMessage, toSaidText } from "./steering-messages.ts"
import type { Using } from "../conversation/scope.ts"

/** Context for the next message: ended tasks, and messages to a working agent. */
export interface PendingContext {
  readonly delivery: Delivery
  readonly said: readonly SaidMessage[]
}

const MOST_STEERED_CHARACTERS = 16_384

/** Null, without reading, for a session that never had a task, and to which nobody spoke while it worked. */
export async function readPending(scope: Using<"store">, conversation: Conversation): Promise<PendingContext | null> {
  const { hasNews, hasTasks, log } = conversation
  if (!hasNews && !hasTasks) return null
  // Reset before the look, so that whatever comes during the look is looked at again.
  conversation.hasNews = false
  const [delivery, said] = await Promise.all([
    readDeliverable(scope, conversation),
    hasNews ? readSaid(scope, log) : [],
  ])
  return { delivery, said }
}

/**
 * In a kept session, the commit that tells the pending context uses it. In any other session, whose turns write nothing, it
 * is used now. Returns what nobody else has used meanwhile.
 */
export async function usePending(
  scope: Using<"store">,
  { log }: Conversation,
  pending: PendingContext,
): Promise<PendingContext> {
  const { delivery, said } = pending
  const notices = keysOf(delivery)
  if (log.isKept || notices.length + said.length === 0) return pending
  const settles = { notices, said: said.map(({ id }) => id) }
  const [used] = await scope.store.commit(toSettleOperations(settles, log))
  if (notices.length === 0 || !Array.isArray(used)) return pending
  const keys = new Set(used.map(toKeyText))
  const waiting = delivery.waiting.filter(({ key }) => keys.has(toKeyText(key)))
  return { said, delivery: { ...keepEnded(delivery, ({ key }) => keys.has(toKeyText(key))), waiting } }
}

/** The changes that are written with the message that tells the pending context, and more of the session's data. */
export function toTold(
  { log }: Conversation,
  { delivery, said }: PendingContext,
  more: LogChange["data"] = {},
): Pick<LogChange, "settles" | "data"> {
  const notices = keysOf(delivery)
  const data = {
    ...more,
    ...(delivery.restored.length > 0 && { backgroundResults: {} }),
    ...(said.length > 0 && { steered: toSteered(log.data.steered ?? [], said) }),
  }
  return {
    ...(notices.length + said.length > 0 && { settles: { notices, said: said.map(({ id }) => id) } }),
    ...(Object.keys(data).length > 0 && { data }),
  }
}

/** Keeps the last messages only: the record of a session is written with every change, and must stay small. */
function toSteered(before: readonly string[], said: readonly SaidMessage[]): readonly string[] {
  let left = MOST_STEERED_CHARACTERS
  const kept = [...before, ...said.map(({ text }) => text)].toReversed().filter((text) => (left -= text.length) >= 0)
  return kept.toReversed()
}

/** Empty if nothing is pending. */
export function toPendingText(
  scope: ContextScope,
  conversation: Conversation,
  { delivery, said }: PendingContext,
): string {
  const { limitTokens } = contextUsage(scope, conversation)
  return [toNoticeText(delivery, { limitTokens }), toSaidText(said)].filter((text) => text !== "").join("\n\n")
}
