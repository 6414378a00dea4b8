import { callsOf, type Message } from "../../../src/plugin/message.ts"

/** Sentences about what a strict provider would refuse in a conversation. Empty if it would accept the conversation. */
export function findHistoryProblems(messages: readonly Message[]): readonly string[] {
  const problems: string[] = []
  const ids = new Set<string>()
  if (messages[0] && messages[0].role !== "user") problems.push(`it starts with ${messages[0].role}`)
  for (const [index, message] of messages.entries()) {
    const where = `message ${index} (${message.role})`
    const before = messages[index - 1]
    if (!hasContent(message)) problems.push(`${where} is empty`)
    if (message.role === "assistant" && before?.role === "assistant") problems.push(`${where} follows another`)
    for (const { id } of callsOf(message)) {
      if (id === "" || ids.has(id)) problems.push(`${where} has the call id "${id}" again`)
      ids.add(id)
    }
    if (message.role === "tool") problems.push(...findAnswerProblems(where, message, before))
    else if (before && callsOf(before).length > 0) problems.push(`${where} comes before the answers to its calls`)
  }
  const last = messages.at(-1)
  if (last && callsOf(last).length > 0) problems.push("the last message has calls without answers")
  return problems
}

function hasContent({ parts }: Message): boolean {
  if (parts.length === 0) return false
  const isWhole = parts.every((part) => part.type !== "text" || part.text !== "")
  const isTelling = parts.some((part) => part.type !== "reasoning")
  return isWhole && isTelling && parts.every((part) => part.type !== "result" || part.content.length > 0)
}

function findAnswerProblems(where: string, { parts }: Message, before: Message | undefined): readonly string[] {
  const asked = before?.role === "assistant" ? callsOf(before).map(({ id }) => id) : []
  const answered = parts.flatMap((part) => (part.type === "result" ? [part.callId] : []))
  const missing = asked.filter((id) => !answered.includes(id))
  const foreign = answered.filter((id) => !asked.includes(id))
  const twice = answered.filter((id, index) => answered.indexOf(id) !== index)
  return [
    ...missing.map((id) => `${where} does not answer the call ${id}`),
    ...foreign.map((id) => `${where} answers ${id}, which the message before did not ask`),
    ...twice.map((id) => `${where} answers ${id} twice`),
  ]
}
