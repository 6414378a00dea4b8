import { callsOf, type FunctionCall, type Message, type ToolResult } from "../../plugin/message.ts"
import { readUserText, type UserText } from "./user-text.ts"

/** What has come since the model last spoke. */
export interface Heard {
  readonly results: readonly ToolResult[]
  /** The calls of its last answer, by id. */
  readonly calls: ReadonlyMap<string, FunctionCall>
  readonly notices: readonly string[]
  /** What tasks came to that it should tell of by itself. */
  readonly news: readonly string[]
  /** The person's last words, answered or not; null when there are none. */
  readonly words: string | null
  /** How many answers it has given since those words; null when it speaks of something else by now. */
  readonly answers: number | null
}

export function hear(messages: readonly Message[]): Heard {
  const lastAnswer = messages.findLastIndex(({ role }) => role === "assistant")
  const fresh = messages.slice(lastAnswer + 1)
  const answer = messages[lastAnswer]
  const lastWords = messages.findLastIndex((message) => userTextOf(message).words !== "")
  const spoken = messages[lastWords]
  const since = messages.slice(lastWords + 1)
  const hasNews = since.some((message) => userTextOf(message).results !== null)
  return {
    results: fresh.flatMap((message) => (message.role === "tool" ? message.parts : [])),
    calls: new Map((answer ? callsOf(answer) : []).map((call) => [call.id, call])),
    notices: fresh.flatMap((message) => userTextOf(message).notices),
    news: fresh.flatMap((message) => userTextOf(message).results ?? []),
    words: spoken ? userTextOf(spoken).words : null,
    answers: hasNews ? null : since.filter(({ role }) => role === "assistant").length,
  }
}

const SILENCE: UserText = { words: "", notices: [], results: null }

function userTextOf(message: Message): UserText {
  return message.role === "user" ? readUserText(message.parts) : SILENCE
}
