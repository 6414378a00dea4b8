import { type JsonValue, type JsonObject, toJson } from "../../base/json.ts"
import type { FinishReason } from "../../plugin/model.ts"
import type { Message } from "../../plugin/message.ts"
import type { TokenUsage } from "../../plugin/token-usage.ts"
import { isClosingOf } from "./closing-message.ts"
import type { TaskId } from "../../task/id.ts"
import type { LedgerEntry } from "../ledger/ledger.ts"
import type { Redactor } from "../../runner/redaction/redactor.ts"
import type { SessionData } from "./session-data.ts"

/** The usage and cost of one message of the model. */
export interface ModelCallRecord {
  readonly model: string
  readonly usage: TokenUsage
  readonly costMicros: number | null
  readonly finish: FinishReason
  /** The task that asked for the turn, if it is a subagent's. */
  readonly task?: TaskId
}

/** A model call that left no message behind. */
export type PaidCall = Omit<LedgerEntry, "at" | "session">

/** One entry of a session's log. The conversation is the result of all entries, read in order. */
export type LogEntry =
  | {
      readonly kind: "message"
      readonly message: Message
      readonly turn: TaskId | null
      /** Set for a message that the model wrote. */
      readonly call?: ModelCallRecord
      /** The part of a user's message that the person said; null if nobody said any of it. Older entries do not have it. */
      readonly said?: string | null
      /** Set if a secret was taken out: the stored message is not what was said. */
      readonly isRedacted?: true
    }
  /** A model call that a crash cut off, or that a plugin made. It has a cost and no message. */
  | { readonly kind: "paid"; readonly entry: PaidCall }
  /** The turn was stopped and is taken again: the message that closed it leaves the history. */
  | { readonly kind: "reopened"; readonly turn: TaskId }
  /** The history goes on from these messages. */
  | { readonly kind: "collection"; readonly messages: readonly Message[]; readonly summary: string }
  | { readonly kind: "reset" }

const KINDS: readonly LogEntry["kind"][] = ["message", "paid", "reopened", "collection", "reset"]

/** Stands in for an empty answer: providers refuse a message without text. */
export const NO_ANSWER = "(no answer)"

export function toStoredEntry(entry: LogEntry): JsonValue {
  return entry as unknown as JsonValue
}

/** Undefined for an entry that only a newer version knows, so that the rest of the conversation can still be read. */
export function parseEntry(stored: JsonValue): LogEntry | undefined {
  if (typeof stored !== "object" || stored === null || !("kind" in stored)) return undefined
  const { kind } = stored
  return KINDS.some((known) => known === kind) ? withText(stored as unknown as LogEntry) : undefined
}

/** Version 0.1 stored a report without text if its generator returned none. Such a text is read as an empty answer. */
function withText(entry: LogEntry): LogEntry {
  if (entry.kind !== "message" || entry.message.role !== "assistant") return entry
  const { parts } = entry.message
  const lacksText = (part: (typeof parts)[number]): boolean => part.type === "text" && typeof part.text !== "string"
  if (!parts.some(lacksText)) return entry
  const mended = parts.map((part) => (lacksText(part) ? ({ type: "text", text: NO_ANSWER } as const) : part))
  return { ...entry, message: { ...entry.message, parts: mended } }
}

/** The history once the entry is added. */
export function applyEntry(history: readonly Message[], entry: LogEntry): readonly Message[] {
  switch (entry.kind) {
    case "message":
      return [...history, entry.message]
    case "collection":
      return entry.messages
    case "reset":
      return []
    case "paid":
      return history
    case "reopened":
      return history.filter((message) => !isClosingOf(message, entry.turn))
  }
}

/** True if the entry removes everything before it from the conversation. */
export function beginsAnew({ kind }: LogEntry): boolean {
  return kind === "collection" || kind === "reset"
}

const redacted = new WeakSet<Message>()

/** Remembers that a secret was taken out of a message that was read from the store. */
export function markRedacted(message: Message): void {
  redacted.add(message)
}

export function isRedacted(message: Message): boolean {
  return redacted.has(message)
}

const remembered = new WeakMap<Message, Message>()

/** The message without secrets. Messages never change, so each is redacted once. */
export function redactMessage(redactor: Redactor, message: Message): Message {
  const known = remembered.get(message)
  if (known) return known
  const clean = redactor.redactJson(message as unknown as JsonValue).value as unknown as Message
  remembered.set(message, clean)
  return clean
}

/**
 * The entry as it is stored, without secrets. This process goes on with the original text; no other process sees a secret.
 */
export function redactEntry(redactor: Redactor, entry: LogEntry): JsonValue {
  const { value, hasChanged } = redactor.redactJson(toStoredEntry(entry))
  if (!hasChanged || entry.kind !== "message") return value
  return { ...(value as { readonly [key: string]: JsonValue }), isRedacted: true }
}

const TEXTS = [
  "name",
  "instructions",
  "title",
  "description",
  "plugins",
  "settings",
] as const satisfies (keyof SessionData)[]
type Texts = Pick<SessionData, (typeof TEXTS)[number]>

/** Redacts a session's data for the store. Looks again only when a text has changed: the data are rewritten often. */
export function createDataRedactor(redactor: Redactor): (data: SessionData) => JsonObject {
  let known: SessionData | undefined
  let texts: Texts | undefined
  return (data) => {
    const before = known
    if (!before || TEXTS.some((name) => before[name] !== data[name])) {
      const { name, instructions, title, description, plugins, settings } = data
      const told = { name, instructions, title, description, plugins, ...(settings && { settings }) }
      const { value } = redactor.redactJson(told)
      // The other fields are JSON by their own type.
      texts = toJson(value) as unknown as Texts
    }
    known = data
    return { ...data, ...texts }
  }
}
