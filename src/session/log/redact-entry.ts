import { type JsonValue, type JsonObject, toJson } from "../../base/json.ts"
import type { Message } from "../../plugin/message.ts"
import type { Redactor } from "../../runner/redaction/redactor.ts"
import { type LogEntry, toStoredEntry } from "./log-entry.ts"
import type { SessionData } from "./session-data.ts"

const redacted = new WeakSet<Message>()

/** Remembers that a message read from the store is not what was said. */
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

/** What is stored of an entry. This process goes on with what was really said; another one never gets to see a secret. */
export function redactEntry(redactor: Redactor, entry: LogEntry): JsonValue {
  const { value, hasChanged } = redactor.redactJson(toStoredEntry(entry))
  if (!hasChanged || entry.kind !== "message") return value
  return { ...(value as { readonly [key: string]: JsonValue }), isRedacted: true }
}

type Texts = Pick<SessionData, "name" | "instructions" | "title" | "description" | "plugins">

/** What is stored of a session's data. Looked through only when one of its texts is another: it is rewritten often. */
export function createDataRedactor(redactor: Redactor): (data: SessionData) => JsonObject {
  let known: SessionData | undefined
  let texts: Texts | undefined
  return (data) => {
    if (!known || !hasSameTexts(known, data)) {
      const { name, instructions, title, description, plugins } = data
      const { value } = redactor.redactJson({ name, instructions, title, description, plugins })
      // The other fields are JSON by their own type.
      texts = toJson(value) as unknown as Texts
    }
    known = data
    return { ...data, ...texts }
  }
}

const TEXTS = ["name", "instructions", "title", "description", "plugins"] as const satisfies readonly (keyof Texts)[]

function hasSameTexts(a: SessionData, b: SessionData): boolean {
  return TEXTS.every((name) => a[name] === b[name])
}
