import type { Message } from "../../plugin/message.ts"
import type { TurnScope } from "./turn-scope.ts"

/** The key of our mark in a part's metadata. Providers ignore the metadata of others. */
const MARK = "meanwhile"
const LAST_MESSAGE = "Answer now with what you have. You have no tools any more, and this is your last message."

/** Once the model was told, it stays so: also when a crash lost count. */
export function findOver({ budget, conversation }: TurnScope): string | null {
  if (!budget) return null
  const last = conversation.log.history.at(-1)
  return budget.over() ?? (last ? findBudgetEnd(last) : null)
}

/** Says it once, however often the last call is made. */
export async function tellBudgetEnd({ conversation, turn }: TurnScope, over: string): Promise<void> {
  const last = conversation.log.history.at(-1)
  if (last && findBudgetEnd(last) !== null) return
  const text = `[Meanwhile: your work ends here, because ${over}.] ${LAST_MESSAGE}`
  const part = { type: "text", text, metadata: { [MARK]: { budgetEnd: over } } } as const
  const message: Message = { role: "user", parts: [part] }
  await turn.save({ entries: [{ kind: "message", message, turn: turn.taskId, said: null }] })
}

/** What a message that ended a turn's work named as the reason; null for any other message. No text can pass for one. */
export function findBudgetEnd({ role, parts }: Message): string | null {
  const [part] = role === "user" ? parts : []
  const mark = part?.metadata?.[MARK]
  if (typeof mark !== "object" || mark === null || !("budgetEnd" in mark)) return null
  return typeof mark["budgetEnd"] === "string" ? mark["budgetEnd"] : null
}
