import type { JsonValue } from "../../base/json.ts"
import type { FinishReason } from "../../plugin/model.ts"
import type { Message } from "../../plugin/message.ts"
import type { TokenUsage } from "../../plugin/token-usage.ts"
import type { TaskId } from "../../task/id.ts"
import type { LedgerEntry } from "../ledger/ledger.ts"

/** The cost of one message of the model. */
export interface ModelCallRecord {
  readonly model: string
  readonly usage: TokenUsage
  readonly costMicros: number | null
  readonly finish: FinishReason
  /** The task below which the turn runs, of a subagent's. */
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
      /** Of a user's message: what the person said of it; null when nobody said any of it. Older entries do not know. */
      readonly said?: string | null
      /** A secret was taken out: what is stored is not what was said. */
      readonly isRedacted?: true
    }
  /** A model call that a crash cut off, or that a plugin asked for: it costs, and says nothing. */
  | { readonly kind: "paid"; readonly entry: PaidCall }
  /** The history goes on from these messages. */
  | { readonly kind: "collection"; readonly messages: readonly Message[]; readonly summary: string }
  | { readonly kind: "reset" }

export function toStoredEntry(entry: LogEntry): JsonValue {
  return entry as unknown as JsonValue
}

/** Undefined for what only a newer version knows: the rest of the conversation can be read all the same. */
export function parseEntry(stored: JsonValue): LogEntry | undefined {
  if (typeof stored !== "object" || stored === null || !("kind" in stored)) return undefined
  const { kind } = stored
  const isKnown = kind === "message" || kind === "paid" || kind === "collection" || kind === "reset"
  return isKnown ? (stored as unknown as LogEntry) : undefined
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
  }
}

/** True if the entry removes everything before it from the conversation. */
export function beginsAnew({ kind }: LogEntry): boolean {
  return kind === "collection" || kind === "reset"
}
