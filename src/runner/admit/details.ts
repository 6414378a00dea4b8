import { type JsonObject, toJson } from "../../base/json.ts"
import type { ToolCall } from "../../plugin/task-service.ts"
import { type BackgroundPolicy, kindOf, type Tool } from "../../plugin/tool.ts"
import { DEFAULT_WORKSPACE, type TaskId } from "../../task/id.ts"
import type { TaskDetails, TaskLimits } from "../../task/record.ts"
import type { Admitted } from "./admission.ts"
import { checkNames } from "./call-check.ts"
import { withHops } from "../limits/hops.ts"
import type { Redactor } from "../redaction/redactor.ts"
import type { DetailsScope } from "./scope.ts"
import type { HasConfig } from "../run/scope.ts"
import { activeTraceId } from "../run/trace.ts"

/** The record as it will be written. A secret in the input stays in the memory of this process. */
export function toDetails(scope: DetailsScope, admitted: Admitted, id: TaskId): TaskDetails {
  const { call, plugin, tool, input, depth, hops } = admitted
  checkNames(scope.redactor, call)
  const kept = tool.pin ? tool.pin(input) : call.input
  const redacted = scope.redactor.redactJson(toJson(kept))
  if (redacted.hasChanged) scope.written.heldInputs.set(id, kept)
  return {
    id,
    workspace: call.workspace ?? DEFAULT_WORKSPACE,
    session: call.session ?? null,
    parentTask: call.parentTask ?? null,
    parentMessage: call.parentMessage ?? null,
    batch: call.batch ?? null,
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
    lifetime: call.lifetime ?? "runtime",
    priority: call.priority ?? 0,
    notify: call.notify ?? "wake",
    limits: toLimits(scope, call, tool, input),
    idempotencyKey: call.idempotencyKey ?? null,
    askedBy: call.askedBy ?? null,
    depth,
    traceId: call.traceId ?? activeTraceId(),
  }
}

/** One that a store could not keep as it is names nothing that is there. */
function toFolder(tool: Tool, pinned: unknown): string | null {
  try {
    const folder = tool.folderOf?.(pinned)
    return folder?.isWellFormed() && !folder.includes("\0") ? folder : null
  } catch {
    return null
  }
}

/** From the input without its secrets, where it has any: a title that cuts the text short may cut through a secret. */
function toTitle(tool: Tool, input: unknown, redacted: ReturnType<Redactor["redactJson"]>): string {
  if (!redacted.hasChanged) return tool.title?.(input) ?? tool.name
  const shown = tool.input.safeParse(redacted.value)
  return (shown.success && tool.title?.(shown.data)) || tool.name
}

export function toLimits(scope: HasConfig, call: ToolCall, tool: Tool, input: unknown): TaskLimits {
  const { maxTokensPerTask, maxCostMicrosPerTask } = scope.config
  return {
    timeoutMs: toWhole(toTimeoutMs(scope, call, tool, input)),
    tokens: toWhole(smaller(call.tokenLimit ?? null, maxTokensPerTask)),
    costMicros: toWhole(smaller(call.costLimitMicros ?? null, maxCostMicrosPerTask)),
    outputBytes: toWhole(call.outputLimitBytes ?? null),
  }
}

export function toPolicy(tool: Tool, input: unknown): BackgroundPolicy {
  const { background } = tool
  return typeof background === "function" ? background(input) : (background ?? { mode: "never" })
}

/** Null: no time limit. */
function toTimeoutMs(scope: HasConfig, call: ToolCall, tool: Tool, input: unknown): number | null {
  const { timeoutOverrideSeconds } = scope.config
  const timeoutMs = toRequestedTimeoutMs(call, tool, input) ?? toUnnamedTimeoutMs(scope, call, tool, input)
  if (timeoutMs === null) return null
  return smaller(timeoutMs, timeoutOverrideSeconds === null ? null : timeoutOverrideSeconds * 1_000)
}

/** The time limit that the call, its input or its tool asks for. */
export function toRequestedTimeoutMs(call: ToolCall, tool: Tool, input: unknown): number | undefined {
  return call.timeoutMs ?? (typeof tool.timeoutMs === "function" ? tool.timeoutMs(input) : tool.timeoutMs)
}

function toUnnamedTimeoutMs(scope: HasConfig, call: ToolCall, tool: Tool, input: unknown): number | null {
  if (kindOf(tool) !== "tool" || call.lifetime === "forever") return null
  const { defaultTimeoutSeconds, foregroundTimeoutSeconds } = scope.config
  return (toPolicy(tool, input).mode === "never" ? foregroundTimeoutSeconds : defaultTimeoutSeconds) * 1_000
}

/**
 * A store keeps whole numbers that it can read again. Rounded up, so that no limit becomes 0, and cut to the largest of them,
 * which no run reaches. A limit that is no number comes from a tool's own function: as if it had named none.
 */
function toWhole(limit: number | null): number | null {
  return limit === null || Number.isNaN(limit) ? null : Math.min(Math.ceil(limit), Number.MAX_SAFE_INTEGER)
}

function smaller(a: number, b: number | null): number
function smaller(a: number | null, b: number | null): number | null
function smaller(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}

/** The name under which durations of such calls are learned. */
export function toShapeKey(plugin: string, tool: Tool, input: unknown): string {
  const shape = tool.shape?.(input)
  return shape === undefined ? `${plugin}/${tool.name}` : `${plugin}/${tool.name} ${shape}`
}
