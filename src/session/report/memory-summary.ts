import type { JsonObject } from "../../base/json.ts"
import { type Message, textOf } from "../../plugin/message.ts"
import type { SessionLog } from "../log/session-log.ts"

const RECENT_MESSAGES = 6
const LONGEST_TEXT = 400

/** What was said lately, by rule and bounded: a report is handed this instead of the whole conversation. */
export function toMemorySummary({ data, history }: Pick<SessionLog, "data" | "history">): JsonObject {
  const { title, description, turns } = data
  const said = history.filter((message) => message.role !== "tool" && textOf(message) !== "")
  return { title, description, turns, recent: said.slice(-RECENT_MESSAGES).map(toRecent) }
}

function toRecent(message: Message): JsonObject {
  const text = textOf(message)
  return { role: message.role, text: text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT - 1)}…` : text }
}
