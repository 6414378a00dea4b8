import { z } from "zod"
import { type JsonObject, type JsonValue, toJson } from "../../base/json.ts"
import { lazily } from "../../base/lazily.ts"
import { backgroundResultSchema, type BackgroundTaskResult } from "../../plugin/background-result.ts"
import type { SessionId, TaskId } from "../../task/id.ts"
import { leftOut } from "../../plugin/left-out.ts"

/** The session's record beside its messages. Rewritten with every change, so it stays small. */
export interface SessionData {
  readonly name: string
  readonly model: string
  readonly parent: SessionId | null
  readonly instructions: string
  /** Null: all exposed tools. */
  readonly tools: readonly string[] | null
  /** How the model is asked in every turn. Absent: as the configuration says. */
  readonly settings?: JsonObject
  /** The beginning of the first message; null before it. */
  readonly title: string | null
  readonly description: string | null
  /** The number of turns that have ended, in whatever way. */
  readonly turns: number
  /** How many of them had ended at the last reset. Absent: none. */
  readonly turnsBeforeReset?: number
  /** The turn that holds the session. If that turn's task has ended, nothing holds the session. */
  readonly turn: TaskId | null
  /** The position after which the history is read: earlier entries were collected or reset. */
  readonly historyAfter: number
  /** A fork: the messages up to this position are copies of another session's. Absent: none. */
  readonly copiedUpTo?: number
  /** The context's size as the provider last counted it, and how many messages of the history that covered. */
  readonly measured: { readonly tokens: number; readonly messages: number } | null
  /** Data of plugins, by their name, that a restored session brought along. Nothing else writes here. */
  readonly plugins: JsonObject
  /** Reports in a row since a person last said something. Absent: none. */
  readonly wakes?: number
  /** The last messages to an agent while it worked, kept for another run of its task. Absent: none. */
  readonly steered?: readonly string[]
  /** Results, by task, that the session had not used when it was saved elsewhere; told with the next message. */
  readonly backgroundResults?: JsonObject
}

const dataSchema = lazily(() =>
  z.looseObject({
    name: z.string().default("main"),
    model: z.string().default(""),
    parent: z.string().nullable().default(null),
    instructions: z.string().default(""),
    tools: z.array(z.string()).nullable().default(null),
    settings: leftOut(z.record(z.string(), z.unknown())),
    title: z.string().nullable().default(null),
    description: z.string().nullable().default(null),
    turns: z.number().default(0),
    turnsBeforeReset: leftOut(z.number()),
    turn: z.string().nullable().default(null),
    historyAfter: z.number().default(0),
    copiedUpTo: leftOut(z.number()),
    measured: z.object({ tokens: z.number(), messages: z.number() }).nullable().default(null),
    plugins: z.record(z.string(), z.unknown()).default({}),
    wakes: leftOut(z.number()),
    steered: leftOut(z.array(z.string())),
    backgroundResults: leftOut(z.record(z.string(), z.unknown())),
  }),
)

/** The results that a restored session came with. What is no result is left out, because the model would read it. */
export function restoredOf({ backgroundResults }: SessionData): readonly BackgroundTaskResult[] {
  if (!backgroundResults) return []
  return Object.values(backgroundResults).flatMap((kept) => {
    const parsed = backgroundResultSchema().safeParse(kept)
    return parsed.success ? [parsed.data] : []
  })
}

/** Fills in fields that an older version did not write. */
export function parseSessionData(stored: JsonValue): SessionData {
  return dataSchema().parse(stored) as unknown as SessionData
}

export function toStoredData(data: SessionData): JsonObject {
  return toJson(data) as JsonObject
}
