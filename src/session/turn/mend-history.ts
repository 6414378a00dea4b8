import { callsOf, type FunctionCall, type Message } from "../../plugin/message.ts"
import { toErrorResult } from "./tool-answer.ts"

/** The calls of the last message that have no answer yet. */
export function unansweredCalls(history: readonly Message[]): readonly FunctionCall[] {
  const last = history.at(-1)
  return last?.role === "assistant" ? callsOf(last) : []
}

/** The messages that complete the history for a provider: an answer to every open call. */
export function mendHistory(history: readonly Message[], reason: string): readonly Message[] {
  const calls = unansweredCalls(history)
  return calls.length === 0 ? [] : [{ role: "tool", parts: calls.map((call) => toErrorResult(call, reason)) }]
}

/** The messages that close a stopped turn: the model's text so far, or a note that it was stopped. */
export function closeStopped(history: readonly Message[], partialText: string): readonly Message[] {
  const mended = mendHistory(history, "The turn was stopped before it was answered.")
  const text = partialText === "" ? "[The turn was stopped before it was finished.]" : `${partialText} [stopped]`
  return [...mended, { role: "assistant", parts: [{ type: "text", text }] }]
}
