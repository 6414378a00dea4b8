import { MeanwhileError } from "../../base/error.ts"
import { type FilePart, type Message, userMessage } from "../../plugin/message.ts"
import type { Conversation } from "../conversation/conversation.ts"
import { contextUsage } from "../conversation/context.ts"
import type { AgentScope } from "../conversation/scope.ts"
import type { SendOptions } from "../conversation/session.ts"
import { estimateTokens } from "../model/token-estimate.ts"

/** What one message may take of the context: the rest is for instructions, tools and the answer. */
const LARGEST_SHARE = 0.8

/** No provider takes an empty message. */
export function requireContent(message: string, { files = [] }: SendOptions): void {
  if (message.trim() !== "" || files.length > 0) return
  throw new MeanwhileError("invalid_input", "The message is empty. Say something, or send a file.")
}

/** What the person said behind what is told with it. */
export function toUserMessage(texts: readonly string[], files: readonly FilePart[] = []): Message {
  const text = texts.filter((one) => one.trim() !== "").join("\n\n")
  return text === "" && files.length > 0 ? { role: "user", parts: files } : userMessage(text || "(empty)", files)
}

/** One that no collection could ever make room for is refused before it is kept: every later turn would fail by it. */
export function requireRoom(scope: AgentScope, conversation: Conversation, message: Message): void {
  const { limitTokens } = contextUsage(scope, conversation)
  const tokens = estimateTokens(message)
  if (tokens <= limitTokens * LARGEST_SHARE) return
  const { id } = conversation.model
  throw new MeanwhileError(
    "invalid_input",
    `The message is too long: it takes about ${tokens} tokens, and ${id} reads ${limitTokens} with everything else. Put it into a file that a tool can read in parts, or shorten it.`,
    { tokens, limitTokens },
  )
}
