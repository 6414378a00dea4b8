import { toErrorMessage } from "../../base/error.ts"
import { unlessAborted } from "../../base/unless-aborted.ts"
import type { ContextUsage } from "../../plugin/context-usage.ts"
import type { Collection } from "../../plugin/gc-plugin.ts"
import { contextUsage, type ContextScope } from "../conversation/context.ts"
import type { Conversation } from "../conversation/conversation.ts"
import { withRoster } from "../results/roster.ts"
import type { LogChange } from "../log/session-log.ts"
import { createModelPort, type ModelAsker } from "../conversation/model-call.ts"
import { estimateTokens } from "../model/token-estimate.ts"
import { callsOf, type Message, type ToolResult } from "../../plugin/message.ts"
import type { Using } from "../conversation/scope.ts"

type CollectContextScope = ContextScope & Using<"clock" | "ledger" | "log" | "store">

export interface CollectOptions extends ModelAsker {
  /** Collects now, whether it is due or not. */
  readonly reason?: string
  /** True if the provider says that the context is full, whatever we reckon: its limit may be lower than we know. */
  readonly isFull?: boolean
  readonly save: (change: LogChange) => Promise<void>
}

/**
 * Makes room in the context when that is due; null if there was nothing to do. An error of the plugin does not fail the
 * turn.
 */
export async function collectContext(
  scope: CollectContextScope,
  conversation: Conversation,
  options: CollectOptions,
): Promise<Collection | null> {
  const { gc, log, emitter } = conversation
  if (!gc) return null
  const collection = await collectSafely(scope, conversation, gc, options)
  if (!collection || !hasMadeRoom(collection, log.history)) return null
  const messages = await withRoster(scope, conversation, keepPairs(collection.messages))
  const { summary, removedMessages } = collection
  const measured = null
  await options.save({ entries: [{ kind: "collection", messages, summary }], data: { measured } })
  emitter.emit({ type: "context.collected", summary, removedMessages })
  if (emitter.hears("context.updated")) {
    emitter.emit({ type: "context.updated", usage: contextUsage(scope, conversation) })
  }
  emitter.emit({ type: "history.updated", messages: log.history })
  return collection
}

/** True also if messages were only shortened. */
function hasMadeRoom({ messages, removedMessages }: Collection, before: readonly Message[]): boolean {
  return removedMessages > 0 || sumTokens(messages) < sumTokens(before)
}

const sumTokens = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => sum + estimateTokens(message), 0)

/** The context as full as it is when the provider takes no more. */
function toFullUsage(known: ContextUsage, history: readonly Message[]): ContextUsage {
  const usedTokens = Math.max(known.usedTokens, sumTokens(history))
  return { ...known, usedTokens, limitTokens: Math.min(known.limitTokens, usedTokens), percentUsed: 100 }
}

async function collectSafely(
  scope: CollectContextScope,
  conversation: Conversation,
  { plugin, config }: NonNullable<Conversation["gc"]>,
  options: CollectOptions,
): Promise<Collection | null> {
  const { reason, signal, isFull } = options
  const { history } = conversation.log
  const known = contextUsage(scope, conversation)
  const usage = isFull ? toFullUsage(known, history) : known
  try {
    const decision = reason ? { isDue: true as const, reason } : await plugin.shouldCollect(usage, config)
    if (!decision.isDue) return null
    const model = createModelPort(scope, conversation, options)
    const tools = { model, estimateTokens, signal }
    const collecting = Promise.resolve(plugin.collect(history, usage, config, decision.reason, tools))
    return await unlessAborted(signal, collecting)
  } catch (error) {
    signal.throwIfAborted()
    scope.log.warn("the context could not be collected", { plugin: plugin.name, error: toErrorMessage(error) })
    return null
  }
}

/** Keeps calls and results in pairs, whatever a plugin did: each result directly after its call, or neither. */
function keepPairs(messages: readonly Message[]): readonly Message[] {
  const kept: Message[] = []
  for (const [index, message] of messages.entries()) {
    const mended =
      message.role === "tool"
        ? keepAnswers(message, messages[index - 1])
        : keepCalls(message, messages[index + 1], index === messages.length - 1)
    if (mended.parts.length > 0) kept.push(mended)
  }
  return kept
}

function keepAnswers(message: Extract<Message, { role: "tool" }>, before: Message | undefined): Message {
  const asked = new Set(before ? callsOf(before).map(({ id }) => id) : [])
  const parts = message.parts.filter(({ callId }) => asked.has(callId))
  return parts.length === message.parts.length ? message : { ...message, parts }
}

/** The calls of the very last message may still be answered. */
function keepCalls(message: Message, after: Message | undefined, isLast: boolean): Message {
  if (message.role !== "assistant" || isLast) return message
  const results: readonly ToolResult[] = after?.role === "tool" ? after.parts : []
  const answered = new Set(results.map(({ callId }) => callId))
  const parts = message.parts.filter((part) => part.type !== "call" || answered.has(part.id))
  return parts.length === message.parts.length ? message : { ...message, parts }
}
