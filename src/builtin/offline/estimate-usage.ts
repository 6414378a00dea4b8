import type { Message } from "../../plugin/message.ts"
import type { ModelRequest } from "../../plugin/model.ts"

export const CHARACTERS_PER_TOKEN = 4
/** A file's bytes are no text: what a picture takes elsewhere. */
const FILE_TOKENS = 1_500

const remembered = new WeakMap<Message, number>()

export function estimateInput({ system, messages, tools }: ModelRequest): number {
  return messages.reduce((tokens, message) => tokens + estimateMessage(message), countTokens(system + toText(tools)))
}

export function countTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN)
}

function estimateMessage(message: Message): number {
  const known = remembered.get(message)
  if (known !== undefined) return known
  let files = 0
  const text = JSON.stringify(message.parts, (key, value: unknown) => {
    if (key !== "source") return value
    files++
    return undefined
  })
  const tokens = countTokens(text) + files * FILE_TOKENS
  remembered.set(message, tokens)
  return tokens
}

/** As a model is told of them: whoever offers a tool may keep more with it. */
function toText(tools: ModelRequest["tools"]): string {
  const told = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
  return told.length > 0 ? JSON.stringify(told) : ""
}
