import { callsOf, type Message } from "../../../src/plugin/message.ts"

/**
 * What the strictest provider refuses: calls without their results directly behind them, results without a call, ids
 * used twice, empty messages, two messages in a row from one side. Empty: it takes the conversation.
 */
export function findBrokenConversation(messages: readonly Message[]): readonly string[] {
  const problems: string[] = []
  const seen = new Set<string>()
  for (const [index, message] of messages.entries()) {
    const before = messages[index - 1]
    if (message.parts.length === 0) problems.push(`message ${index} is empty`)
    if (before?.role === message.role) problems.push(`messages ${index - 1} and ${index} are both of ${message.role}`)
    if (index === 0 && message.role !== "user") problems.push(`the conversation begins with ${message.role}`)
    for (const { id } of callsOf(message)) {
      if (seen.has(id)) problems.push(`the call ${id} is there twice`)
      seen.add(id)
    }
    problems.push(...findUnpaired(message, before, index))
  }
  const last = messages.at(-1)
  if (last && callsOf(last).length > 0) problems.push("the last message asks for calls that nobody answers")
  return problems
}

function findUnpaired(message: Message, before: Message | undefined, index: number): readonly string[] {
  const asked = before ? callsOf(before).map(({ id }) => id) : []
  const answered = message.role === "tool" ? message.parts.map(({ callId }) => callId) : []
  if (asked.toSorted().join() === answered.toSorted().join()) return []
  return [`message ${index} answers ${answered.join(", ") || "nothing"}, asked was ${asked.join(", ") || "nothing"}`]
}
