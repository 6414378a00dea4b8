import type { SharedV4ProviderOptions } from "@ai-sdk/provider"
import { isJsonObject, type JsonObject } from "../../base/json.ts"
import type { ProviderMetadata } from "../../plugin/message.ts"

/** Constraints of the API behind a language model that its SDK does not handle. */
export interface Dialect {
  /** The key that marks what this provider wrote, where it leaves no metadata of its own. */
  readonly origin: string
  /** Metadata with one of these keys is its own and is sent back; any other is passed over. */
  readonly metadataKeys: readonly string[]
  /** True if the provider's own reasoning, with this metadata, may be sent back. Reasoning of others never is. */
  takesReasoning(own: JsonObject): boolean
  /** Ids of calls that do not match are replaced by `length` hexadecimal digits. */
  readonly callId: { readonly pattern: RegExp; readonly length: number }
  /** If false, files follow the results as a user message. */
  readonly takesFilesInResults: boolean
  /** If false, a file that a model made is only named. */
  readonly takesFilesInAnswers: boolean
  /** True if the SDK can make it answer in a form, also beside tools. */
  readonly hasJsonMode: boolean
  /** The key of its options if it checks a form strictly unless it is told otherwise. */
  readonly strictFor?: string
  /** Options that are sent with every call. */
  readonly options?: SharedV4ProviderOptions
}

/** What Anthropic and the Responses API have in common. */
const STRICT = {
  callId: { pattern: /^[a-zA-Z0-9_-]{1,64}$/, length: 32 },
  hasJsonMode: true,
  takesFilesInResults: true,
  takesFilesInAnswers: false,
}
const PRINTABLE_ID = { pattern: /^[\x21-\x7e]{1,64}$/, length: 32 }
const MISTRAL_ID = { pattern: /^[a-zA-Z0-9]{9}$/, length: 9 }
/** Most OpenAI-compatible servers want their own reasoning back, and some insist on it; these refuse it. */
const REFUSING_REASONING: readonly string[] = ["groq", "mistral"]

/** `provider` as the language model names it: `anthropic.messages`, `openai.responses`, `openrouter.chat`. */
export function dialectOf(provider: string): Dialect {
  const names = provider.split(".")
  const origin = names[0] ?? provider
  const isOpenAI = origin === "openai" || origin === "azure"
  if (names.includes("anthropic")) return toAnthropic(provider)
  if (names[1] === "responses" && isOpenAI) return toResponses(origin)
  if (origin === "google") return toGoogle(names[1] === "vertex" ? "vertex" : "google")
  return {
    origin,
    metadataKeys: [origin],
    takesReasoning: () => !REFUSING_REASONING.includes(origin),
    // Of servers that speak OpenAI's chat completions, only the originals are known to have it.
    hasJsonMode: isOpenAI,
    ...(isOpenAI && { strictFor: origin }),
    callId: origin === "mistral" ? MISTRAL_ID : PRINTABLE_ID,
    takesFilesInResults: false,
    takesFilesInAnswers: false,
  }
}

/** The metadata the provider kept on its own part; undefined on a part of another provider. */
export function findOwnMetadata(dialect: Dialect, metadata: ProviderMetadata | undefined): JsonObject | undefined {
  if (metadata === undefined) return undefined
  return dialect.metadataKeys.map((key) => metadata[key]).find(isJsonObject)
}

/**
 * Thinking without its signature is refused. The prompt cache has to be asked for; only Anthropic itself knows the
 * option.
 */
function toAnthropic(provider: string): Dialect {
  return {
    origin: "anthropic",
    metadataKeys: ["anthropic"],
    takesReasoning: (own) => typeof own["signature"] === "string" || typeof own["redactedData"] === "string",
    ...STRICT,
    ...(provider === "anthropic.messages" && { options: { anthropic: { cacheControl: { type: "ephemeral" } } } }),
  }
}

/**
 * With `store: false` the server keeps nothing: no item can be referred to, and reasoning goes back encrypted or not
 * at all.
 */
function toResponses(origin: string): Dialect {
  return {
    origin,
    metadataKeys: [origin],
    takesReasoning: (own) => typeof own["reasoningEncryptedContent"] === "string",
    ...STRICT,
    strictFor: origin,
    options: { [origin]: { store: false } },
  }
}

function toGoogle(origin: string): Dialect {
  return {
    origin,
    metadataKeys: ["google", "googleVertex", "vertex"],
    takesReasoning: () => true,
    hasJsonMode: true,
    callId: PRINTABLE_ID,
    takesFilesInResults: true,
    takesFilesInAnswers: true,
  }
}
