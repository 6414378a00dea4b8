import { expect, test } from "vitest"
import { type Message, userMessage } from "../../src/plugin/message.ts"
import { findHistoryProblems } from "../support/session/history-problems.ts"

const asks = (...ids: string[]): Message => ({
  role: "assistant",
  parts: ids.map((id) => ({ type: "call", id, tool: "t", input: {} })),
})
const answers = (...ids: string[]): Message => ({
  role: "tool",
  parts: ids.map((callId) => ({
    type: "result",
    callId,
    tool: "t",
    isError: false,
    content: [{ type: "text", text: "x" }],
  })),
})
const says = (text: string): Message => ({ role: "assistant", parts: [{ type: "text", text }] })

test("a complete conversation has no problem", () => {
  const whole = [userMessage("a"), asks("1", "2"), answers("2", "1"), says("b"), userMessage("c"), says("d")]
  expect(findHistoryProblems(whole)).toEqual([])
  expect(findHistoryProblems([])).toEqual([])
})

test.each<[string, readonly Message[]]>([
  ["a start without a user", [says("a")]],
  ["a call without an answer", [userMessage("a"), asks("1", "2"), answers("1"), says("b")]],
  ["a call that nothing follows", [userMessage("a"), asks("1")]],
  ["a call answered twice", [userMessage("a"), asks("1"), answers("1", "1")]],
  ["an answer without a call", [userMessage("a"), asks("1"), answers("1", "2")]],
  ["words between call and answer", [userMessage("a"), asks("1"), userMessage("b"), answers("1")]],
  ["an empty text", [userMessage("")]],
  ["no part at all", [userMessage("a"), { role: "assistant", parts: [] }]],
  ["a thought and nothing else", [userMessage("a"), { role: "assistant", parts: [{ type: "reasoning", text: "hm" }] }]],
  ["two answers of the model in a row", [userMessage("a"), says("b"), says("c")]],
  ["a call id used again", [userMessage("a"), asks("1"), answers("1"), asks("1"), answers("1")]],
])("%s is found", (_, messages) => {
  expect(findHistoryProblems(messages)).not.toEqual([])
})
