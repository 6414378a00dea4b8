import { expect, test } from "vitest"
import type { JsonValue } from "../../base/json.ts"
import { parseEntry } from "./log-entry.ts"

const toStored = (part: JsonValue): JsonValue => ({
  kind: "message",
  turn: null,
  said: null,
  message: { role: "assistant", parts: [part] },
})

test.each<JsonValue>([{ type: "text" }, { type: "text", text: 5 }, { type: "text", text: null }])(
  "a stored report without text is read as an empty answer: %j",
  (part) => {
    expect(parseEntry(toStored(part))).toEqual(toStored({ type: "text", text: "(no answer)" }))
  },
)

test("a stored message with text is read as it is", () => {
  const stored = toStored({ type: "text", text: "" })
  expect(parseEntry(stored)).toBe(stored)
})
