import { z } from "zod"
import { MeanwhileError, toErrorMessage } from "../../base/error.ts"
import { lazily } from "../../base/lazily.ts"
import type { Message } from "../../plugin/message.ts"
import { messageSchema } from "../../plugin/message-schema.ts"

const history = lazily(() => z.array(messageSchema()))

export function serializeHistory(messages: readonly Message[]): string {
  return JSON.stringify(messages)
}

/** Contract: what `serializeHistory` wrote comes back identical; anything else is refused. */
export function deserializeHistory(text: string): readonly Message[] {
  const value = parse(text)
  const { success, error } = history().safeParse(value)
  if (success) return value as readonly Message[]
  const { path, message } = error.issues[0] ?? { path: [], message: "it has another shape" }
  throw toRefusal(`${path.length > 0 ? `${path.join(".")}: ` : ""}${message}`)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw toRefusal(toErrorMessage(error))
  }
}

function toRefusal(problem: string): MeanwhileError {
  return new MeanwhileError(
    "invalid_input",
    `This is no history of a conversation: ${problem}. Give one as it was saved.`,
  )
}
