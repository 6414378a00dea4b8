import { toErrorMessage } from "../../base/error.ts"
import { unlessAborted } from "../../base/unless-aborted.ts"
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
  const { history } = log
  const collection = await collectSafely(scope, conversation, gc, options)
  // A collection may shorten messages and remove none.
  if (!collection || isSame(collection.messages, history)) return null
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

function isSame(messages: readonly Message[], before: readonly Message[]): boolean {
  return messages.length === before.length && messages.every((message, index) => message === before[index])
}

async function collectSafely(
  scope: CollectContextScope,
  conversation: Conversation,
  { plugin, config }: NonNullable<Conversation["gc"]>,
  options: CollectOptions,
): Promise<Collection | null> {
  const { reason, signal } = options
  const usage = contextUsage(scope, conversation)
  try {
    const decision = reason ? { isDue: true as const, reason } : await plugin.shouldCollect(usage, config)
    if (!decision.isDue) return null
    const model = createModelPort(scope, conversation, options)
    const { history } = conversation.log
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
