import { Buffer } from "node:buffer"
import type {
  LanguageModelV4File,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
  SharedV4Warning,
} from "@ai-sdk/provider"
import { compact } from "../../base/compact.ts"
import { type JsonObject, type JsonValue, toJson } from "../../base/json.ts"
import { shorten } from "../../base/shorten.ts"
import type { FilePart, FunctionCall, ReasoningPart, TextPart } from "../../plugin/message.ts"
import type { FinishReason, ModelRequest, ProviderResponse } from "../../plugin/model.ts"
import type { TokenUsage } from "../../plugin/token-usage.ts"
import { createCallIds } from "./call-id.ts"

/** An answer as it grows. */
export interface Answer {
  add(part: LanguageModelV4StreamPart): void
  /** Undefined until the provider says that the answer is complete, and if it says that the answer broke off. */
  toResponse(): ProviderResponse | undefined
}

interface Block {
  readonly type: "text" | "reasoning"
  text: string
  metadata: SharedV4ProviderMetadata | undefined
}

type BlockPart = Extract<LanguageModelV4StreamPart, { type: `${Block["type"]}-${"start" | "delta" | "end"}` }>

const FINISH_OF = {
  stop: "stop",
  length: "length",
  "content-filter": "filter",
  "tool-calls": "calls",
  other: "other",
  error: undefined,
  interrupted: undefined,
} as const satisfies Record<string, FinishReason | undefined>

/** Parts that no other part of Meanwhile knows (sources, tools that the provider runs itself) are passed over. */
export function createAnswer(
  origin: string,
  { messages, onDelta }: Pick<ModelRequest, "messages" | "onDelta">,
): Answer {
  const parts: (Block | LanguageModelV4File | LanguageModelV4ToolCall)[] = []
  const blocks = { text: new Map<string, Block>(), reasoning: new Map<string, Block>() }
  let finish: Extract<LanguageModelV4StreamPart, { type: "finish" }> | undefined
  let warnings: readonly SharedV4Warning[] = []

  function open(type: Block["type"], id: string): Block {
    const block: Block = { type, text: "", metadata: undefined }
    parts.push(block)
    blocks[type].set(id, block)
    return block
  }

  function write(type: Block["type"], part: BlockPart): void {
    const isStart = part.type === "text-start" || part.type === "reasoning-start"
    const block = (isStart ? undefined : blocks[type].get(part.id)) ?? open(type, part.id)
    if (part.providerMetadata) block.metadata = merge(block.metadata, part.providerMetadata)
    const text = "delta" in part ? part.delta : ""
    if (!text) return
    block.text += text
    onDelta?.({ type, text })
  }

  return {
    add(part) {
      switch (part.type) {
        case "text-start":
        case "text-delta":
        case "text-end":
          return write("text", part)
        case "reasoning-start":
        case "reasoning-delta":
        case "reasoning-end":
          return write("reasoning", part)
        case "tool-call":
        case "file":
          parts.push(part)
          return
        case "stream-start":
          warnings = part.warnings
          return
        case "finish":
          finish = part
          return
        default:
      }
    },
    toResponse() {
      const reason = finish && FINISH_OF[finish.finishReason.unified]
      if (!finish || reason === undefined) return undefined
      const toFreeId = createCallIds(parts.some(({ type }) => type === "tool-call") ? messages : [])
      const message = compact(parts.flatMap((part) => toMessagePart(part, origin, toFreeId)))
      const hasCalls = message.some(({ type }) => type === "call")
      return {
        message: { role: "assistant", parts: message },
        finish: checkFinish(reason, hasCalls),
        usage: toTokenUsage(finish.usage),
        ...(warnings.length > 0 && { warnings: warnings.map(toSentence) }),
      }
    },
  }
}

function toMessagePart(
  part: Block | LanguageModelV4File | LanguageModelV4ToolCall,
  origin: string,
  toFreeId: (id: string) => string,
): readonly (TextPart | ReasoningPart | FilePart | FunctionCall)[] {
  switch (part.type) {
    case "text":
    case "reasoning": {
      if (part.text === "" && !part.metadata) return []
      const metadata = part.metadata ?? (part.type === "reasoning" ? {} : undefined)
      return [{ type: part.type, text: part.text, ...toMetadata(metadata, origin) }]
    }
    case "file": {
      const source = toSource(part.data)
      return [{ type: "file", mediaType: part.mediaType, source, ...toMetadata(part.providerMetadata, origin) }]
    }
    case "tool-call": {
      if (part.providerExecuted) return []
      const call = { id: toFreeId(part.toolCallId), tool: part.toolName, input: toInput(part.input) }
      return [{ type: "call", ...call, ...toMetadata(part.providerMetadata, origin) }]
    }
  }
}

/** Marks metadata with its origin, so that another provider recognises it as foreign. */
function toMetadata(metadata: SharedV4ProviderMetadata | undefined, origin: string): { metadata?: JsonObject } {
  return metadata ? { metadata: { [origin]: {}, ...(toJson(metadata) as JsonObject) } } : {}
}

function merge(known: SharedV4ProviderMetadata | undefined, added: SharedV4ProviderMetadata): SharedV4ProviderMetadata {
  if (!known) return added
  const merged = Object.entries(added).map(([provider, values]) => [provider, { ...known[provider], ...values }])
  return { ...known, ...(Object.fromEntries(merged) as SharedV4ProviderMetadata) }
}

function toInput(text: string): JsonValue {
  if (text.trim() === "") return {}
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return text
  }
}

function toSource(file: LanguageModelV4File["data"]): FilePart["source"] {
  if (file.type === "url") return { url: file.url.toString() }
  return { data: typeof file.data === "string" ? file.data : Buffer.from(file.data).toString("base64") }
}

/** Some servers say `stop` beside calls. */
function checkFinish(reason: FinishReason, hasCalls: boolean): FinishReason {
  if (hasCalls) return reason === "stop" || reason === "other" ? "calls" : reason
  return reason === "calls" ? "other" : reason
}

function toTokenUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): TokenUsage {
  const { noCache = 0, cacheRead = 0, cacheWrite = 0 } = inputTokens
  const { text = 0, reasoning = 0 } = outputTokens
  return {
    inputTokens: inputTokens.total ?? noCache + cacheRead + cacheWrite,
    cachedInputTokens: cacheRead,
    outputTokens: outputTokens.total ?? text + reasoning,
    reasoningTokens: reasoning,
  }
}

const WARNING_CHARACTERS = 300

function toSentence(warning: SharedV4Warning): string {
  return shorten(describeWarning(warning), WARNING_CHARACTERS)
}

function describeWarning(warning: SharedV4Warning): string {
  switch (warning.type) {
    case "unsupported":
    case "compatibility":
      return `${warning.type}: ${warning.feature}${warning.details ? ` (${warning.details})` : ""}`
    case "deprecated":
      return `deprecated: ${warning.setting} (${warning.message})`
    case "other":
      return warning.message
  }
}
