import { z } from "zod"
import { defined } from "../../base/defined.ts"
import { MeanwhileError, toErrorMessage } from "../../base/error.ts"
import { lazily } from "../../base/lazily.ts"
import type { SessionState } from "../../plugin/sessions-port.ts"
import { backgroundResultSchema } from "../../plugin/background-result.ts"
import type { SessionId } from "../../task/id.ts"
import { messageSchema } from "../../plugin/message-schema.ts"
import { leftOut } from "../../plugin/left-out.ts"

/** The version this program writes. A file of a higher version is refused and left unchanged. */
const FILE_VERSION = 1
const LATEST_TIME = 8_640_000_000_000_000

/** Part of a file name, so that it must not lead anywhere else. */
const SAFE_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/

const stateSchema = lazily((): z.ZodType<SessionState> => {
  const time = z.number().int().nonnegative().max(LATEST_TIME)
  return z.strictObject({
    id: z.custom<SessionId>(isSessionId, "is no id of a conversation"),
    description: z.string().nullable(),
    turns: z.number().int().nonnegative(),
    createdAt: time,
    updatedAt: time,
    model: z.string().nullable(),
    messages: z.array(messageSchema()),
    data: z.record(z.string(), z.json()),
    // Absent if the conversation has used all of them, and in older files.
    backgroundResults: leftOut(z.record(z.string(), backgroundResultSchema())),
    // Absent if no plugin keeps anything of the conversation, and in older files.
    documents: leftOut(z.record(z.string(), z.record(z.string(), z.json()))),
    // Absent if there are none, and in older files.
    metadata: leftOut(z.record(z.string(), z.string())),
  })
})
const fileSchema = lazily(() => z.strictObject({ version: z.literal(FILE_VERSION), session: stateSchema() }))
const versionSchema = lazily(() => z.looseObject({ version: z.number() }))

export function isSessionId(value: unknown): value is SessionId {
  return typeof value === "string" && SAFE_ID.test(value)
}

export function requireSessionId(id: string): void {
  if (isSessionId(id)) return
  throw new MeanwhileError(
    "invalid_input",
    `${JSON.stringify(id.slice(0, 80))} cannot be the name of a saved conversation: ids have letters, digits, - and _, at most 128.`,
  )
}

export function toFileText(state: SessionState): string {
  const { id, description, turns, createdAt, updatedAt, model, messages, data, backgroundResults, documents } = state
  const known = { id, description, turns, createdAt, updatedAt, model, messages, data }
  const metadata = Object.keys(state.metadata ?? {}).length === 0 ? undefined : state.metadata
  const session: SessionState = { ...known, ...defined({ backgroundResults, documents, metadata }) }
  return `${JSON.stringify({ version: FILE_VERSION, session })}\n`
}

/** Rejects as `store_newer` or `store_damaged`; the message names the file and what to do. */
export function parseFileText(text: string, path: string): SessionState {
  const value = toValue(text, path)
  const versioned = versionSchema().safeParse(value)
  if (versioned.success && versioned.data.version > FILE_VERSION) {
    throw new MeanwhileError(
      "store_newer",
      `${path} was written by a newer Meanwhile (format ${versioned.data.version}, this one knows ${FILE_VERSION}). Update Meanwhile to read it; it is left as it is.`,
    )
  }
  const parsed = fileSchema().safeParse(value)
  if (parsed.success) return parsed.data.session
  const [issue] = parsed.error.issues
  throw toDamaged(path, issue ? `${issue.path.join(".") || "the whole"}: ${issue.message}` : "its shape is wrong")
}

export function toDamaged(path: string, reason: string, options?: ErrorOptions): MeanwhileError {
  return new MeanwhileError(
    "store_damaged",
    `${path} is no saved conversation that can be read: ${reason}. It is left as it is: repair it, move it away or remove it.`,
    { path },
    options,
  )
}

function toValue(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw toDamaged(path, toErrorMessage(error), { cause: error })
  }
}
