import type { FilePart, Message, Part } from "../../plugin/message.ts"
import type { ModelRequest, ModelTool } from "../../plugin/model.ts"

const MESSAGE_TOKENS = 4
const CALL_TOKENS = 8
/** A picture at about the size that providers scale pictures to. */
const IMAGE_TOKENS = 1_500
/** A file that only its provider can read. */
const REMOTE_FILE_TOKENS = 3_000
/** A page of a document is some 60 KB and 1,500 tokens; a second of sound 16 KB and 32, of film 250 KB and 300. */
const BYTES_PER_TOKEN: Readonly<Record<string, number>> = { text: 4, application: 40, audio: 500, video: 800 }

const remembered = new WeakMap<Message, number>()

/** About how many tokens a message takes. Messages never change, so each is looked at once. */
export function estimateTokens(message: Message): number {
  const known = remembered.get(message)
  if (known !== undefined) return known
  let tokens = MESSAGE_TOKENS
  for (const part of message.parts) tokens += estimatePart(part)
  remembered.set(message, tokens)
  return tokens
}

/** About how many tokens a whole request takes. */
export function estimateRequest({
  system,
  messages,
  tools,
}: Pick<ModelRequest, "system" | "messages" | "tools">): number {
  const said = messages.reduce((sum, message) => sum + estimateTokens(message), 0)
  return estimateText(system) + estimateTools(tools) + said
}

const rememberedTools = new WeakMap<readonly ModelTool[], number>()

/** The estimated tokens of a list of tools in a request. Contract: a list never changes. */
export function estimateTools(tools: readonly ModelTool[]): number {
  const known = rememberedTools.get(tools)
  if (known !== undefined) return known
  let tokens = 0
  for (const { name, description, inputSchema } of tools) {
    tokens += CALL_TOKENS + estimateText(name) + estimateText(description) + estimateJson(inputSchema)
  }
  rememberedTools.set(tools, tokens)
  return tokens
}

/** About one token for four ASCII characters, for two characters of other alphabets, and for one ideograph. */
export function estimateText(text: string): number {
  let quarters = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    quarters += code < 0x80 ? 1 : code < 0x2e80 ? 2 : 4
  }
  return Math.ceil(quarters / 4)
}

/** Three characters a token: braces, quotes and numbers are tokens of their own. */
function estimateJson(value: unknown): number {
  return Math.ceil((estimateText(JSON.stringify(value)) * 4) / 3)
}

function estimatePart(part: Part): number {
  switch (part.type) {
    case "text":
    case "reasoning":
      return estimateText(part.text)
    case "file":
      return estimateFile(part)
    case "call":
      return CALL_TOKENS + estimateText(part.tool) + estimateJson(part.input)
    case "result":
      return part.content.reduce((tokens, inner) => tokens + estimatePart(inner), CALL_TOKENS)
  }
}

function estimateFile({ mediaType, source }: FilePart): number {
  const family = mediaType.split("/", 1)[0] ?? ""
  if (family === "image") return IMAGE_TOKENS
  if ("url" in source) return REMOTE_FILE_TOKENS
  const bytes = (source.data.length * 3) / 4
  const isText = family === "text" || /json|xml|yaml|javascript/.test(mediaType)
  return Math.ceil(bytes / (BYTES_PER_TOKEN[isText ? "text" : family] ?? BYTES_PER_TOKEN["application"] ?? 1))
}
