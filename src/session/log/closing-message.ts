import type { Message } from "../../plugin/message.ts"
import type { TaskId } from "../../task/id.ts"

/** Providers ignore metadata that is not theirs. */
const MARK = "meanwhile"

type Answer = Extract<Message, { role: "assistant" }>

/** The message that closes a stopped turn. It is marked, so that it can be taken out when the turn is taken again. */
export function toClosingMessage(text: string, turn: TaskId): Message {
  return markClosing({ role: "assistant", parts: [{ type: "text", text }] }, turn)
}

/** The same for an answer that was refused: the turn has failed with it. */
export function markClosing({ role, parts: [first, ...parts] }: Answer, turn: TaskId): Answer {
  if (!first) return { role, parts: [] }
  return { role, parts: [{ ...first, metadata: { ...first.metadata, [MARK]: { closes: turn } } }, ...parts] }
}

export function isClosingOf({ role, parts }: Message, turn: TaskId): boolean {
  const [part] = role === "assistant" ? parts : []
  const mark = part?.metadata?.[MARK]
  return typeof mark === "object" && mark !== null && "closes" in mark && mark["closes"] === turn
}
