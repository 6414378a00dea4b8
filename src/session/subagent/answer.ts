import { isJsonObject, type JsonObject } from "../../base/json.ts"
import { FINISH_TOOL } from "../../plugin/agent-request.ts"
import { callsOf, type Message, textOf } from "../../plugin/message.ts"
import { addTokens } from "../../plugin/token-usage.ts"
import type { ChildTurn } from "../../plugin/sessions-port.ts"
import { findBudgetEnd } from "../turn/budget-end.ts"

/** What the messages of a turn say of how it ended. */
export function toAnswer(messages: readonly Message[]): Pick<ChildTurn, "text" | "handedBack" | "budgetEnd"> {
  const last = messages.findLast(({ role }) => role === "assistant")
  const budgetEnd = messages.map(findBudgetEnd).findLast((reason) => reason !== null) ?? null
  return { text: last ? textOf(last) : "", handedBack: findHandedBack(messages), budgetEnd }
}

/** Of the last call of `finish` that was not refused. */
function findHandedBack(messages: readonly Message[]): JsonObject | null {
  const refused = new Set(
    messages.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === "result" && part.isError ? [part.callId] : [])),
    ),
  )
  const call = messages.flatMap(callsOf).findLast(({ tool, id }) => tool === FINISH_TOOL && !refused.has(id))
  const input = call?.input
  return isJsonObject(input) ? input : null
}

/** A run that had several turns: the last has the last word, and all of them cost. */
export function joinTurns(before: ChildTurn, next: ChildTurn): ChildTurn {
  return {
    ...next,
    usage: addTokens(before.usage, next.usage),
    handedBack: next.handedBack ?? before.handedBack,
  }
}
