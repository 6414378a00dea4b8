import { z } from "zod"
import { type JsonObject, type JsonValue, toJson } from "../../base/json.ts"
import { lazily } from "../../base/lazily.ts"
import { backgroundResultSchema, type BackgroundTaskResult } from "../../plugin/background-result.ts"
import type { SessionId, TaskId } from "../../task/id.ts"

/** The session's record beside its messages. Rewritten with every change, so it stays small. */
export interface SessionData {
  readonly name: string
  readonly model: string
  readonly parent: SessionId | null
  readonly instructions: string
  /** Null: all that are exposed. */
  readonly tools: readonly string[] | null
  /** The beginning of the first message; null before it. */
  readonly title: string | null
  readonly description: string | null
  /** Turns that have ended, however. */
  readonly turns: number
  /** The turn that holds the session. One whose run is over holds nothing. */
  readonly turn: TaskId | null
  /** The position after which the history is read: what came before was collected or reset. */
  readonly historyAfter: number
  /** The context as the provider last counted it, and how many messages of the history that were. */
  readonly measured: { readonly tokens: number; readonly messages: number } | null
  /** For plugins, by their name: what a restored session came with. Nothing here adds to it. */
  readonly plugins: JsonObject
  /** Reports in a row since a person last said something. Absent: none. */
  readonly wakes?: number
  /** The last that was said to an agent while it worked, for another run of its task. Absent: nothing. */
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
    title: z.string().nullable().default(null),
    description: z.string().nullable().default(null),
    turns: z.number().default(0),
    turn: z.string().nullable().default(null),
    historyAfter: z.number().default(0),
    measured: z.object({ tokens: z.number(), messages: z.number() }).nullable().default(null),
    plugins: z.record(z.string(), z.unknown()).default({}),
    wakes: z.number().exactOptional(),
    steered: z.array(z.string()).exactOptional(),
    backgroundResults: z.record(z.string(), z.unknown()).exactOptional(),
  }),
)

/** The results that a restored session came with. Anything that is no result is left out: the model would be told it. */
export function restoredOf({ backgroundResults }: SessionData): readonly BackgroundTaskResult[] {
  if (!backgroundResults) return []
  return Object.values(backgroundResults).flatMap((kept) => {
    const parsed = backgroundResultSchema().safeParse(kept)
    return parsed.success ? [parsed.data] : []
  })
}

/** Fills in what an older version did not write. */
export function parseSessionData(stored: JsonValue): SessionData {
  return dataSchema().parse(stored) as unknown as SessionData
}

export function toStoredData(data: SessionData): JsonObject {
  return toJson(data) as JsonObject
}
