import { MeanwhileError, toErrorMessage } from "../../base/error.ts"
import { byteLength } from "../../base/json.ts"
import type { ToolCall } from "../../plugin/task-service.ts"
import { LIFETIMES, NOTIFY_MODES } from "../../task/record.ts"
import type { Redactor } from "../redaction/redactor.ts"
import { GATE_PREFIX, QUESTION_PREFIX } from "../tool/runtime-tools.ts"
import { HOPS } from "../limits/hops.ts"

const METADATA_LIMIT_BYTES = 16 * 1024
const TEXT_LIMIT_CHARACTERS = 512

/** Prefixes of keys under which a person's answers are found: no call may use them. */
const RESERVED_KEYS = [GATE_PREFIX, QUESTION_PREFIX]

const POSITIVE = ["timeoutMs", "tokenLimit", "costLimitMicros", "outputLimitBytes"] as const
const TEXTS = ["idempotencyKey", "batch", "model", "title", "traceId"] as const
/** A task is found by these, or joined to others: they are stored as they are or not at all. */
const NAMES = ["idempotencyKey", "batch", "model", "traceId", "parentMessage", "workspace", "session", "group"] as const

/** Refuses a call whose own fields make no sense, whatever tool it names. */
export function checkCall(call: ToolCall): void {
  for (const field of POSITIVE) {
    const value = call[field]
    if (value !== undefined && !(Number.isFinite(value) && value > 0)) {
      refuse(field, `must be a number above 0, not ${String(value)}`)
    }
  }
  if (call.delayMs !== undefined && !(Number.isFinite(call.delayMs) && call.delayMs >= 0)) {
    refuse("delayMs", `must be 0 or more, not ${String(call.delayMs)}`)
  }
  if (call.priority !== undefined && !Number.isSafeInteger(call.priority)) {
    refuse("priority", `must be a whole number, not ${String(call.priority)}`)
  }
  if (call.hops !== undefined && !(Number.isSafeInteger(call.hops) && call.hops >= 0)) {
    refuse("hops", `must be a whole number of 0 or more, not ${String(call.hops)}`)
  }
  for (const field of TEXTS) {
    const value = call[field]
    if (value && value.length > TEXT_LIMIT_CHARACTERS)
      refuse(field, `must be at most ${TEXT_LIMIT_CHARACTERS} characters`)
  }
  const reserved = RESERVED_KEYS.find((prefix) => call.idempotencyKey?.startsWith(prefix))
  if (reserved)
    refuse("idempotencyKey", `may not begin with ${reserved}, which is kept for what a person says. Choose another`)
  if (call.lifetime !== undefined) checkOneOf("lifetime", call.lifetime, LIFETIMES)
  if (call.notify !== undefined) checkOneOf("notify", call.notify, NOTIFY_MODES)
  if (call.lifetime === "session" && !call.session) refuse("lifetime", "is `session`, so `session` must be given too")
  if (call.lifetime === "turn" && !call.parentTask) refuse("lifetime", "is `turn`, so `parentTask` must name the turn")
  if (call.metadata !== undefined) checkMetadata(call.metadata)
}

/** Refuses a call that is named by a secret: redacted, the name would be another. */
export function checkNames(redactor: Redactor, call: ToolCall): void {
  for (const field of NAMES) checkName(redactor, `call's \`${field}\``, call[field])
  checkName(redactor, "call's `askedBy.key`", call.askedBy?.key)
}

export function checkName(redactor: Redactor, what: string, name: string | null | undefined): void {
  if (!name || redactor.redactText(name) === name) return
  const message = `The ${what} holds a secret, which is never stored. Name it after something else, or by a hash of it.`
  throw new MeanwhileError("invalid_input", message)
}

function checkOneOf(field: string, value: string, allowed: readonly string[]): void {
  if (!allowed.includes(value)) refuse(field, `must be one of ${allowed.join(", ")}, not ${value}`)
}

function checkMetadata(metadata: unknown): void {
  if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata))
    refuse("metadata", "must be an object")
  if (HOPS in metadata) refuse("metadata", `may not hold \`${HOPS}\`, which is counted. Choose another name for it`)
  const bytes = byteLength(toJsonText(metadata))
  if (bytes > METADATA_LIMIT_BYTES) {
    refuse(
      "metadata",
      `takes ${bytes} bytes as JSON; at most ${METADATA_LIMIT_BYTES} are kept. Store it as an artifact.`,
    )
  }
}

function toJsonText(metadata: unknown): string {
  try {
    return JSON.stringify(metadata)
  } catch (error) {
    return refuse("metadata", `cannot be written as JSON (${toErrorMessage(error)})`)
  }
}

function refuse(field: string, problem: string): never {
  throw new MeanwhileError("invalid_input", `The call's \`${field}\` ${problem}.`, { field })
}
