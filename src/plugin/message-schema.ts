import { z } from "zod"
import { lazily } from "../base/lazily.ts"
import type { Message } from "./message.ts"
import { leftOut } from "./left-out.ts"

/** Parses a message from a file that anyone may have written. */
export const messageSchema = lazily((): z.ZodType<Message> => {
  const metadata = leftOut(z.record(z.string(), z.json()))
  const text = z.strictObject({ type: z.literal("text"), text: z.string(), metadata })
  const reasoning = z.strictObject({ type: z.literal("reasoning"), text: z.string(), metadata })
  const file = z.strictObject({
    type: z.literal("file"),
    mediaType: z.string(),
    name: leftOut(z.string()),
    source: z.union([z.strictObject({ data: z.string() }), z.strictObject({ url: z.string() })]),
    metadata,
  })
  const call = z.strictObject({
    type: z.literal("call"),
    id: z.string(),
    tool: z.string(),
    input: z.json(),
    metadata,
  })
  const result = z.strictObject({
    type: z.literal("result"),
    callId: z.string(),
    tool: z.string(),
    isError: z.boolean(),
    content: z.array(z.discriminatedUnion("type", [text, file])),
  })
  return z.discriminatedUnion("role", [
    z.strictObject({ role: z.literal("user"), parts: z.array(z.discriminatedUnion("type", [text, file])) }),
    z.strictObject({
      role: z.literal("assistant"),
      parts: z.array(z.discriminatedUnion("type", [text, reasoning, file, call])),
    }),
    z.strictObject({ role: z.literal("tool"), parts: z.array(result) }),
  ])
})
