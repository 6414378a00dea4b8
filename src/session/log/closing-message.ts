import type { Message } from "../../plugin/message.ts"
import type { TaskId } from "../../task/id.ts"

/** Providers ignore metadata that is not theirs. */
const MARK = "meanwhile"

/** The message that closes a stopped turn. It is marked, so that it can be taken out when the turn is taken again. */
export function toClosingMessage(text: string, turn: TaskId): Message {
  return { role: "assistant", parts: [{ type: "text", text, metadata: { [MARK]: { closes: turn } } }] }
}

export function isClosingOf({ role, parts }: Message, turn: TaskId): boolean {
  const [part] = role === "assistant" ? parts : []
  const mark = part?.metadata?.[MARK]
  return typeof mark === "object" && mark !== null && "closes" in mark && mark["closes"] === turn
}
