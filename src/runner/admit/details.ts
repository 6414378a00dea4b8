import { MeanwhileError, toErrorMessage } from "../../base/error.ts"
import { describeIssues, parse, type Parsed, toPath } from "../../plugin/schema.ts"
import type { CheckedCall, ToolCall } from "../../plugin/task-service.ts"
import { backgroundOf, type Tool, type BackgroundPolicy, kindOf, toPinned } from "../../plugin/tool.ts"
import { DEFAULT_WORKSPACE, type TaskId } from "../../task/id.ts"
import { type Lifetime, type TaskDetails, type TaskLimits, LIFETIMES, NOTIFY_MODES } from "../../task/record.ts"
import { type JsonObject, toJson, byteLength } from "../../base/json.ts"
import type { ActiveRun, RunOrigin } from "../run/active-run.ts"
import { HOPS, withHops } from "../run/hops.ts"
import type { HasConfig } from "../run/scope.ts"
import { checkIds } from "./check-ids.ts"
import type { Redactor } from "../redaction/redactor.ts"
import { activeTraceId } from "../run/trace.ts"
import { GATE_PREFIX, QUESTION_PREFIX } from "../tool/tool-source.ts"
import type { Approval } from "./permission.ts"
import type { DetailsScope } from "./scope.ts"

const METADATA_LIMIT_BYTES = 16 * 1024
const TEXT_LIMIT_CHARACTERS = 512
/** Ten years. A store could not read back a time that is much later. */
const LONGEST_DELAY_MS = 10 * 365 * 24 * 60 * 60 * 1_000
/** Every store has 32 bits for a priority. */
const LOWEST_PRIORITY = -(2 ** 31)
const HIGHEST_PRIORITY = 2 ** 31 - 1

/** Prefixes of keys under which a person's answers are found: no call may use them. */
const RESERVED_KEYS = [GATE_PREFIX, QUESTION_PREFIX]

const POSITIVE = ["tokenLimit", "costLimitMicros", "outputLimitBytes"] as const
const TEXTS = ["idempotencyKey", "batch", "model", "title", "traceId", "workspace", "session", "group"] as const
/** These fields find a task or join it to others: they are stored unchanged or not at all. */
const NAMES = ["idempotencyKey", "batch", "model", "traceId", "parentMessage", "workspace", "session", "group"] as const

/** A call that may run: its tool is known, its input fits, and nobody forbids it. */
export interface Admitted {
  readonly call: CheckedCall
  /** The run that makes the call, as it was when it asked. Null if none in this process does. */
  readonly above: ActiveRun | null
  readonly plugin: string
  readonly tool: Tool
  /** The input as the tool's schema gives it to `run`. */
  readonly input: unknown
  readonly depth: number
  readonly hops: number
  /** A person must allow the call first: it becomes a task that waits. */
  readonly approval?: Approval
  /** Called once the task is written or runs, or never will. Then the next agent below the same parent is admitted. */
  readonly settle?: () => void
}

/** The record as it will be written. A secret in the input stays in the memory of this process. */
export function toDetails(scope: DetailsScope, admitted: Admitted, id: TaskId): TaskDetails {
  const { call, plugin, tool, input } = admitted
  const { hops, ...origin } = toCallOrigin(admitted)
  checkNames(scope.redactor, call)
  const kept = toPinned(tool, input, call.input)
  const redacted = scope.redactor.redactJson(toJson(kept))
  if (redacted.hasChanged) scope.written.heldInputs.set(id, kept)
  return {
    id,
    ...origin,
    group: call.group ?? null,
    kind: kindOf(tool),
    plugin,
    tool: tool.name,
    model: call.model ?? null,
    folder: redacted.hasChanged ? null : toFolder(tool, kept),
    title: scope.redactor.redactText(call.title ?? toTitle(tool, input, redacted)),
    input: redacted.value,
    inputHeldBy: redacted.hasChanged ? scope.worker.id : null,
    metadata: withHops(scope.redactor.redactJson(toJson(call.metadata ?? {})).value as JsonObject, hops),
    lifetime: toLifetime(scope, call, tool),
    priority: call.priority ?? 0,
    notify: call.notify ?? "wake",
    limits: toLimits(scope, call, tool, input),
    idempotencyKey: call.idempotencyKey ?? null,
  }
}

/** Where an admitted call comes from. */
export function toCallOrigin({ call, depth, hops }: Admitted): RunOrigin {
  return {
    workspace: call.workspace ?? DEFAULT_WORKSPACE,
    session: call.session ?? null,
    parentTask: call.parentTask ?? null,
    parentMessage: call.parentMessage ?? null,
    batch: call.batch ?? null,
    hops,
    depth,
    askedBy: call.askedBy ?? null,
    traceId: call.traceId ?? activeTraceId(),
  }
}

/** Null also for a folder whose name no store can keep unchanged: no folder on disk has such a name. */
function toFolder(tool: Tool, pinned: unknown): string | null {
  try {
    const folder = tool.folderOf?.(pinned)
    return folder?.isWellFormed() && !folder.includes("\0") ? folder : null
  } catch {
    return null
  }
}

/** Made from the redacted input if that held a secret: a title that cuts the text short may cut through a secret. */
function toTitle(tool: Tool, input: unknown, redacted: ReturnType<Redactor["redactJson"]>): string {
  if (!redacted.hasChanged) return toOwnTitle(tool, input) ?? tool.name
  const shown = parse(tool.input, redacted.value)
  return (shown.success && toOwnTitle(tool, shown.data)) || tool.name
}

/** Undefined also for a title that throws or is no text: a call is worth more than its title. */
function toOwnTitle(tool: Tool, input: unknown): string | undefined {
  try {
    const title: unknown = tool.title?.(input)
    return typeof title === "string" ? title : undefined
  } catch {
    return undefined
  }
}

export function toLimits(scope: HasConfig, call: CheckedCall, tool: Tool, input: unknown): TaskLimits {
  const { maxTokensPerTask, maxCostMicrosPerTask } = scope.config
  return {
    timeoutMs: toWhole(toTimeoutMs(scope, call, tool, input)),
    tokens: toWhole(smaller(call.tokenLimit ?? null, maxTokensPerTask)),
    costMicros: toWhole(smaller(call.costLimitMicros ?? null, maxCostMicrosPerTask)),
    outputBytes: toWhole(call.outputLimitBytes ?? null),
  }
}

export function toPolicy(tool: Tool, input: unknown): BackgroundPolicy {
  const background = backgroundOf(tool)
  return typeof background === "function" ? background(input) : background
}

/** Null: no time limit. */
function toTimeoutMs(scope: HasConfig, call: CheckedCall, tool: Tool, input: unknown): number | null {
  const requestedMs = toRequestedTimeoutMs(call, tool, input)
  if (requestedMs !== undefined && !isEndless(scope, call, tool)) return capTimeoutMs(scope, requestedMs)
  const unnamedMs = requestedMs ?? toUnnamedTimeoutMs(scope, call, tool, input)
  return unnamedMs === null ? null : capTimeoutMs(scope, unnamedMs)
}

/** The time limit that the call, its input or its tool asks for. Null: it asks for none. */
export function toRequestedTimeoutMs(call: CheckedCall, tool: Tool, input: unknown): number | null | undefined {
  if (call.timeoutMs !== undefined) return call.timeoutMs
  return typeof tool.timeoutMs === "function" ? tool.timeoutMs(input) : tool.timeoutMs
}

/** The time limit that a live task gets when `wantedMs` is asked for; null: none. Refuses a number that is no limit. */
export function toTimeLimitMs(scope: HasConfig, wantedMs: number | null): number | null {
  if (wantedMs !== null) checkPositive("timeoutMs", wantedMs)
  return toWhole(capTimeoutMs(scope, wantedMs))
}

/** No task that names a limit, or asks for none, runs longer than the configuration allows. */
function capTimeoutMs({ config: { timeoutOverrideSeconds } }: HasConfig, timeoutMs: number | null): number | null {
  return smaller(timeoutMs, timeoutOverrideSeconds === null ? null : timeoutOverrideSeconds * 1_000)
}

function toUnnamedTimeoutMs(scope: HasConfig, call: CheckedCall, tool: Tool, input: unknown): number | null {
  if (kindOf(tool) !== "tool" || isEndless(scope, call, tool)) return null
  const { defaultTimeoutSeconds, foregroundTimeoutSeconds } = scope.config
  const seconds = toPolicy(tool, input).mode === "never" ? foregroundTimeoutSeconds : defaultTimeoutSeconds
  return seconds === null ? null : seconds * 1_000
}

/** True for a `forever` task whose caller says nothing about its time: only its tool or its input may limit it. */
function isEndless(scope: HasConfig, call: CheckedCall, tool: Tool): boolean {
  return call.timeoutMs === undefined && toLifetime(scope, call, tool) === "forever"
}

/** The configured lifetime is for tools. One that needs a session counts only where there is a session. */
export function toLifetime({ config }: HasConfig, call: CheckedCall, tool: Tool): Lifetime {
  if (call.lifetime !== undefined) return call.lifetime
  if (kindOf(tool) !== "tool" || (config.lifetime === "session" && !call.session)) return "runtime"
  return config.lifetime
}

/**
 * A store keeps whole numbers up to a largest one. A limit is rounded up, so that none becomes 0, and cut to that
 * largest number, which no run reaches. NaN comes from a tool's own function and counts as no limit.
 */
function toWhole(limit: number | null): number | null {
  return limit === null || Number.isNaN(limit) ? null : Math.min(Math.ceil(limit), Number.MAX_SAFE_INTEGER)
}

function smaller(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}

/** The name under which the durations of calls of this shape are learned. */
export function toShapeKey(plugin: string, tool: Tool, input: unknown): string {
  const shape = tool.shape?.(input)
  return shape === undefined ? `${plugin}/${tool.name}` : `${plugin}/${tool.name} ${shape}`
}

/** Refuses a call whose own fields make no sense, whatever tool it names. */
export function checkCall(call: ToolCall): asserts call is CheckedCall {
  for (const field of POSITIVE) {
    const value = call[field]
    if (value !== undefined) checkPositive(field, value)
  }
  if (call.timeoutMs !== undefined && call.timeoutMs !== null) checkPositive("timeoutMs", call.timeoutMs)
  if (call.delayMs !== undefined && !(call.delayMs >= 0 && call.delayMs <= LONGEST_DELAY_MS)) {
    refuse("delayMs", `must be 0 or more and at most ${LONGEST_DELAY_MS} (ten years), not ${String(call.delayMs)}`)
  }
  if (call.priority !== undefined) checkPriority(call.priority)
  if (call.hops !== undefined && !(Number.isSafeInteger(call.hops) && call.hops >= 0)) {
    refuse("hops", `must be a whole number of 0 or more, not ${String(call.hops)}`)
  }
  for (const field of TEXTS) checkLength(field, call[field])
  checkIds(call)
  const reserved = RESERVED_KEYS.find((prefix) => call.idempotencyKey?.startsWith(prefix))
  if (reserved)
    refuse(
      "idempotencyKey",
      `may not begin with ${reserved}, which is reserved for the answers of people. Choose another key`,
    )
  if (call.lifetime !== undefined) checkOneOf("lifetime", call.lifetime, LIFETIMES)
  if (call.notify !== undefined) checkOneOf("notify", call.notify, NOTIFY_MODES)
  if (call.lifetime === "session" && !call.session) refuse("lifetime", "is `session`, so `session` must be given too")
  if (call.lifetime === "turn" && !call.parentTask) refuse("lifetime", "is `turn`, so `parentTask` must name the turn")
  if (call.metadata !== undefined) checkMetadata(call.metadata)
}

function checkPositive(field: string, value: number): void {
  if (!(Number.isFinite(value) && value > 0)) refuse(field, `must be a number above 0, not ${String(value)}`)
}

export function checkPriority(priority: number): void {
  if (Number.isInteger(priority) && priority >= LOWEST_PRIORITY && priority <= HIGHEST_PRIORITY) return
  refuse("priority", `must be a whole number from ${LOWEST_PRIORITY} to ${HIGHEST_PRIORITY}, not ${String(priority)}`)
}

/** Most of these texts are in an index. An index refuses longer ones, and with them the whole commit. */
export function checkLength(field: string, text: string | null | undefined): void {
  if (text && text.length > TEXT_LIMIT_CHARACTERS) refuse(field, `must be at most ${TEXT_LIMIT_CHARACTERS} characters`)
}

/** Refuses a call with a secret in one of its names: redacted, the name would be another. */
export function checkNames(redactor: Redactor, call: CheckedCall): void {
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

export function parseInput(tool: Tool, input: unknown): unknown {
  const parsed = parse(tool.input, input)
  if (parsed.success) return parsed.data
  throw new MeanwhileError("invalid_input", describeRefusal(tool.name, parsed.issues), { tool: tool.name })
}

type Issues = Extract<Parsed<unknown>, { success: false }>["issues"]

/** A tool's own complaint about one argument, for example a missing folder, is shown as it is. */
function describeRefusal(name: string, issues: Issues): string {
  const [issue, ...others] = issues
  const path = issue ? toPath(issue) : []
  if (issue && "code" in issue && issue.code === "custom" && path.length > 0 && others.length === 0)
    return `The ${path.join(".")} of ${name} cannot be used: ${issue.message}`
  return `The arguments of ${name} are not valid.\n${describeIssues(issues)}`
}
