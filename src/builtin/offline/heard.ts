import { callsOf, type FunctionCall, type Message, type ToolResult } from "../../plugin/message.ts"
import { readUserText, type UserText } from "./user-text.ts"

/** What has come since the model last spoke. */
export interface Heard {
  readonly results: readonly ToolResult[]
  /** The calls of its last answer, by id. */
  readonly calls: ReadonlyMap<string, FunctionCall>
  readonly notices: readonly string[]
  /** The person's last words, answered or not; null when there are none. */
  readonly words: string | null
  /** How many answers it has given since those words. */
  readonly answers: number
}

export function hear(messages: readonly Message[]): Heard {
  const lastAnswer = messages.findLastIndex(({ role }) => role === "assistant")
  const fresh = messages.slice(lastAnswer + 1)
  const answer = messages[lastAnswer]
  const lastWords = messages.findLastIndex((message) => userTextOf(message).words !== "")
  const spoken = messages[lastWords]
  return {
    results: fresh.flatMap((message) => (message.role === "tool" ? message.parts : [])),
    calls: new Map((answer ? callsOf(answer) : []).map((call) => [call.id, call])),
    notices: fresh.flatMap((message) => userTextOf(message).notices),
    words: spoken ? userTextOf(spoken).words : null,
    answers: messages.slice(lastWords + 1).filter(({ role }) => role === "assistant").length,
  }
}

const SILENCE: UserText = { words: "", notices: [] }

function userTextOf(message: Message): UserText {
  return message.role === "user" ? readUserText(message.parts) : SILENCE
}
