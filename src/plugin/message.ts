import type { JsonObject, JsonValue } from "../base/json.ts"

/** Data a provider attaches to a part and wants back unchanged, by provider. Other providers ignore it. */
export type ProviderMetadata = JsonObject

export interface TextPart {
  readonly type: "text"
  readonly text: string
  readonly metadata?: ProviderMetadata
}

export interface ReasoningPart {
  readonly type: "reasoning"
  readonly text: string
  readonly metadata?: ProviderMetadata
}

/** An image or any other file. */
export interface FilePart {
  readonly type: "file"
  readonly mediaType: string
  readonly name?: string
  /** Base64, or where the provider finds it. */
  readonly source: { readonly data: string } | { readonly url: string }
  readonly metadata?: ProviderMetadata
}

/** The model asks for a tool. */
export interface FunctionCall {
  readonly type: "call"
  /** Unique in its conversation. */
  readonly id: string
  readonly tool: string
  /** The arguments as the model gave them. Text that is not JSON stays text, and the tool's schema refuses it. */
  readonly input: JsonValue
  readonly metadata?: ProviderMetadata
}

/** Content a tool can show a model. */
export type ContentPart = TextPart | FilePart

/** The one answer to a call. */
export interface ToolResult {
  readonly type: "result"
  readonly callId: string
  readonly tool: string
  readonly isError: boolean
  readonly content: readonly ContentPart[]
}

export type Part = TextPart | ReasoningPart | FilePart | FunctionCall | ToolResult

/**
 * One entry of a conversation, the same for every provider. Contract: plain JSON, so that it is stored and comes back
 * identical.
 */
export type Message =
  | { readonly role: "user"; readonly parts: readonly ContentPart[] }
  | { readonly role: "assistant"; readonly parts: readonly (TextPart | ReasoningPart | FilePart | FunctionCall)[] }
  | { readonly role: "tool"; readonly parts: readonly ToolResult[] }

export function userMessage(text: string, files: readonly FilePart[] = []): Message {
  return { role: "user", parts: [{ type: "text", text }, ...files] }
}

/** All text of the message, without reasoning, calls and results. */
export function textOf({ parts }: Message): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("")
}

export function callsOf({ parts }: Message): readonly FunctionCall[] {
  return parts.filter((part) => part.type === "call")
}
