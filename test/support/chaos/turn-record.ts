import { callsOf, type Message, textOf } from "../../../src/plugin/message.ts"
import { type LogEntry, parseEntry } from "../../../src/session/log/log-entry.ts"
import { parseSessionData, type SessionData } from "../../../src/session/log/session-data.ts"
import type { SessionId } from "../../../src/task/id.ts"
import type { TaskSummary } from "../../../src/task/record.ts"
import type { TaskStore } from "../../../src/task/store.ts"

const MOST_ENTRIES = 10_000

/** A session with everything the store keeps of it. */
export interface StoredSession {
  readonly data: SessionData
  /** All messages in order, including collected ones. */
  readonly messages: readonly Message[]
  /** The person's texts. */
  readonly said: readonly string[]
  /** The person's texts and the notices that the model was told in the middle of turns. */
  readonly heard: readonly string[]
  /** The model's texts that ask for nothing. */
  readonly spoken: readonly string[]
  /** The text of each call's answer, by the call. */
  readonly answers: ReadonlyMap<string, string>
  /** Model calls that the ledger in the log names as lost. */
  readonly lostCalls: number
  /** Oldest first. */
  readonly turns: readonly TaskSummary[]
  /** The tasks that are no turns. */
  readonly tasks: readonly TaskSummary[]
  tasksOf(tool: string): readonly TaskSummary[]
}

export async function readStoredSession(store: TaskStore, id: SessionId): Promise<StoredSession | undefined> {
  const record = await store.session(id)
  if (!record) return undefined
  const stored = await store.messages(id, 0, MOST_ENTRIES)
  const entries = stored.map(({ body }) => parseEntry(body)).filter((entry) => entry !== undefined)
  const messages = entries.flatMap((entry) => (entry.kind === "message" ? [entry.message] : []))
  const { items } = await store.tasks({ session: id }, { limit: MOST_ENTRIES })
  const tasks = items.filter(({ kind }) => kind !== "turn")
  return {
    data: parseSessionData(record.data),
    messages,
    said: entries.flatMap(toSaid),
    heard: messages.filter(({ role }) => role === "user").map(textOf),
    spoken: messages.filter((message) => message.role === "assistant" && callsOf(message).length === 0).map(textOf),
    answers: new Map(messages.flatMap(toAnswers)),
    lostCalls: entries.filter(isLostCall).length,
    turns: items.filter(({ kind }) => kind === "turn").toReversed(),
    tasks,
    tasksOf: (tool) => tasks.filter((task) => task.tool === tool),
  }
}

/** The texts of the person. A user message that names a turn is a notice in the middle of it. */
function toSaid(entry: LogEntry): readonly string[] {
  return entry.kind === "message" && entry.message.role === "user" && entry.turn === null ? [textOf(entry.message)] : []
}

function isLostCall(entry: LogEntry): boolean {
  return entry.kind === "paid" && entry.entry.purpose === "lost"
}

function toAnswers(message: Message): readonly (readonly [string, string])[] {
  if (message.role !== "tool") return []
  return message.parts.map(({ callId, content }) => [
    callId,
    content.map((part) => (part.type === "text" ? part.text : "")).join(""),
  ])
}
