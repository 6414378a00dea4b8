import { z } from "zod"
import { MeanwhileError, toErrorMessage } from "../../base/error.ts"
import type { Message } from "../../plugin/message.ts"

const metadata = z.record(z.string(), z.json()).optional()
const text = z.strictObject({ type: z.literal("text"), text: z.string(), metadata })
const reasoning = z.strictObject({ type: z.literal("reasoning"), text: z.string(), metadata })
const file = z.strictObject({
  type: z.literal("file"),
  mediaType: z.string(),
  name: z.string().optional(),
  source: z.union([z.strictObject({ data: z.string() }), z.strictObject({ url: z.string() })]),
})
const call = z.strictObject({ type: z.literal("call"), id: z.string(), tool: z.string(), input: z.json(), metadata })
const content = z.discriminatedUnion("type", [text, file])
const result = z.strictObject({
  type: z.literal("result"),
  callId: z.string(),
  tool: z.string(),
  isError: z.boolean(),
  content: z.array(content),
})
const history = z.array(
  z.discriminatedUnion("role", [
    z.strictObject({ role: z.literal("user"), parts: z.array(content) }),
    z.strictObject({
      role: z.literal("assistant"),
      parts: z.array(z.discriminatedUnion("type", [text, reasoning, file, call])),
    }),
    z.strictObject({ role: z.literal("tool"), parts: z.array(result) }),
  ]),
)

export function serializeHistory(messages: readonly Message[]): string {
  return JSON.stringify(messages)
}

/** Contract: what `serializeHistory` wrote comes back identical; anything else is refused. */
export function deserializeHistory(text: string): readonly Message[] {
  const value = parse(text)
  const { success, error } = history.safeParse(value)
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
