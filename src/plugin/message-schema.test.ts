import { expect, it } from "vitest"
import type { Message } from "./message.ts"
import { messageSchema } from "./message-schema.ts"

const metadata = { google: { thoughtSignature: "abc" } }
const file = { type: "file", mediaType: "image/png", name: "a.png", source: { data: "aGk=" }, metadata } as const

it("takes every part with every field that a message can have, and leaves it as it is", () => {
  const messages: readonly Message[] = [
    { role: "user", parts: [{ type: "text", text: "look", metadata }, file] },
    {
      role: "assistant",
      parts: [
        { type: "reasoning", text: "hm", metadata },
        { type: "text", text: "so" },
        file,
        { type: "call", id: "1", tool: "look", input: { a: [1, null] }, metadata },
      ],
    },
    { role: "tool", parts: [{ type: "result", callId: "1", tool: "look", isError: false, content: [file] }] },
  ]
  for (const message of messages) expect(messageSchema().parse(JSON.parse(JSON.stringify(message)))).toEqual(message)
})

it("refuses roles and fields that no message has", () => {
  for (const parts of [[{ type: "text", text: "x", more: 1 }], [{ type: "call" }], [{ type: "file", source: {} }]]) {
    expect(messageSchema().safeParse({ role: "user", parts }).success).toBe(false)
  }
  expect(messageSchema().safeParse({ role: "system", parts: [] }).success).toBe(false)
})
