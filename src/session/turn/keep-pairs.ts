import { callsOf, type Message, type ToolResult } from "../../plugin/message.ts"

/** Whatever a plugin did: every call has its result directly after it and every result its call, or both are gone. */
export function keepPairs(messages: readonly Message[]): readonly Message[] {
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
